import type { IncomingMessage } from 'node:http'
import { type Details, Failure } from '../../../schemas/failure.ts'
import { actionsInProse } from '../../../schemas/names.ts'
import { routes } from './routes.ts'

/** The operation that does what an action does; of several, the first one in the table. */
const operationOf = new Map<string, string>()
for (const { action, method, path } of routes) {
  const shown = path.replace(/:(\w+)/g, (_, name: string) => name.toUpperCase())
  if (!operationOf.has(action)) operationOf.set(action, `${method.toUpperCase()} ${shown}`)
}
/** Names that no ordinary word of a hint is. */
const actions = actionsInProse([...operationOf.keys()].filter((name) => name.includes('_')))

/** The same failure, with what a caller of the REST interface reads in place of its own words. */
export function restated(failure: Failure, { message = failure.message, ...changed }: Words): Failure {
  const { code, details, cause, allowance } = failure
  return Object.assign(new Failure(code, message, { ...details, ...changed }, cause), { allowance })
}

type Words = Pick<Details, 'errors' | 'hint'> & { readonly message?: string }

/** The hint names operations in the place of actions. */
export function withOperations(failure: Failure): Failure {
  const { hint } = failure.details
  if (hint === undefined) return failure
  const named = hint
    .replace(actions, (action) => operationOf.get(action) ?? action)
    .replace(/\bwith ([a-z]+)\b/g, (written, action) =>
      operationOf.has(action) ? `with ${operationOf.get(action)}` : written,
    )
  return restated(failure, { hint: named })
}

/** An `If-Match` that no entry can meet says so: to read the entry again would change nothing. */
export function withCondition(failure: Failure, { headers }: IncomingMessage): Failure {
  const condition = headers['if-match']
  if (failure.code !== 'precondition_failed' || condition === undefined) return failure
  if (condition.split(',').some((tag) => strongTag.test(tag.trim()))) return failure
  return restated(failure, {
    message: 'If-Match has no ETag that an entry can have.',
    hint: 'Send the ETag as it was read: in quotes, without W/ before them.',
  })
}

const strongTag = /^"[^"]*"$/
