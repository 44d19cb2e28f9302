import { codes, type Failure, problem } from '../../../../schemas/failure.ts'
import { queryNames } from './request.ts'

/** Fields whose faults the official registry answers with 400; those of other fields are 422 there. */
const readByHand = new Set(['/updated_since', '/cursor'])

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  422: 'Unprocessable Entity',
}

/** A failure as the official registry states it, with our own code and hint beside; `types` is the page of the codes. */
export function officialProblem(
  failure: Failure,
  id: string,
  place: 'query' | 'body',
  types: string,
): Readonly<Record<string, unknown>> & { readonly status: number } {
  const { errors, hint, ...body } = problem(failure, id, types)
  const status = statusOf(failure)
  return {
    ...body,
    title: titles[status] ?? body.title,
    status,
    detail: named(body.detail),
    ...(hint !== undefined && { hint: hint.replace(/\blist_servers\b/, 'GET /v0.1/servers') }),
    ...(errors && {
      errors: errors.map(({ pointer, detail }) => ({
        message: detail,
        location: locationOf(pointer, place),
      })),
    }),
  }
}

function statusOf({ code, details }: Failure): number {
  const { http } = codes[code]
  if (code === 'conflict' || code === 'wrong_state') return 400
  if (code !== 'invalid_request' || !details.errors) return http
  return details.errors.every(({ pointer }) => readByHand.has(pointer)) ? 400 : 422
}

/** A detail with the query parameter in place of the field that it fills. */
function named(detail: string): string {
  return detail.replace(/^\/(\w+)/, (pointer, field) =>
    queryNames[field] ? `/${queryNames[field]}` : pointer,
  )
}

function locationOf(pointer: string, place: 'query' | 'body'): string {
  const field = pointer
    .replace(/^\/server(?=\/|$)/, '')
    .slice(1)
    .replaceAll('/', '.')
  return field === '' ? place : `${place}.${queryNames[field] ?? field}`
}
