import type { Definitions } from './definitions.ts'
import { answerSchema, bodySchema, parametersOf } from './inputs.ts'
import { linksFrom } from './links.ts'
import { responsesOf } from './responses.ts'
import { type NamedRow, operationIdOf, type Row } from './row.ts'

/** OpenAPI's Operation Object of one row; `all` are the rows that its answer may lead to. */
export function operationOf(row: NamedRow, all: readonly NamedRow[], definitions: Definitions): unknown {
  const { route, action } = row
  const operationId = operationIdOf(route)
  const body = route.body && definitions.add(`${operationId}.body`, bodySchema(row))
  const output = definitions.add(`${operationId}.answer`, answerSchema(row))
  return {
    operationId,
    summary: route.summary,
    description: action.description,
    security: securityOf(row),
    parameters: parametersOf(row),
    ...(body && {
      requestBody: {
        required: Array.isArray(body.required) || 'anyOf' in body || 'oneOf' in body,
        content: { 'application/json': { schema: body } },
      },
    }),
    responses: responsesOf(row, output, linksFrom(row, all)),
  }
}

function securityOf({ route, action }: Row): unknown[] {
  const access = route.access ?? action.access
  return access === 'public' ? [{}, { bearer: [] }] : [{ bearer: [] }]
}
