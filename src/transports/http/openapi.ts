import type { Agent } from '../../../schemas/action.ts'
import { envelopeShape } from '../../../schemas/envelope.ts'
import { createDefinitions, type Definitions } from './openapi/definitions.ts'
import { answerSchema, bodySchema, parametersOf } from './openapi/inputs.ts'
import { problemComponents, responsesOf } from './openapi/responses.ts'
import {
  type Described,
  type NamedRow,
  operationIdOf,
  parameterNames,
  type Row,
  shapeOf,
} from './openapi/row.ts'
import { routes } from './routes.ts'

/** The OpenAPI 3.1 document, generated from the table and the schemas that serve requests. */
export function openApi(agents: readonly Agent[], version: string, baseUrl: string): unknown {
  const definitions = createDefinitions()
  const rows = [envelope, ...rowsOf(agents)]
  const { schemas, responses } = problemComponents
  const paths = pathsOf(rows, definitions)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      version,
      description: 'A registry of software agents that speaks every protocol agents speak.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ...schemas, ...definitions.schemas },
      responses,
    },
  }
}

/** `POST /a2a/message`, which is not in the table: it calls any action and returns the output of the action. */
const envelope: Row = {
  route: {
    method: 'post',
    path: '/a2a/message',
    summary: 'Send an A2A envelope',
    to: '',
    action: 'message',
    body: 'whole',
  },
  action: {
    title: 'The output of the action',
    description: 'Calls any action of any agent. The action defines the params and the output.',
    input: envelopeShape,
    output: { json: {} },
    access: 'public',
    effect: 'call',
  },
}

function rowsOf(agents: readonly Agent[]): Row[] {
  const actions = new Map<string, Described>(
    agents.flatMap(({ package_name, actions }) =>
      actions.map((action) => [`${package_name} ${action.name}`, action] as const),
    ),
  )
  return routes.flatMap((route) => {
    const action = actions.get(`${route.to} ${route.action}`)
    return action ? [{ route, action }] : []
  })
}

/** Rows whose paths differ only in parameter names become one path, with the names of the first row. */
function pathsOf(rows: readonly Row[], definitions: Definitions): Record<string, unknown> {
  const groups = Map.groupBy(rows, ({ route }) => shapeOf(route.path))
  const named = [...groups.values()].flatMap((group) => {
    const path = group[0]?.route.path ?? ''
    return group.map((row) => ({ ...row, path }))
  })
  const byPath = Map.groupBy(named, ({ path }) => path.replace(/:(\w+)/g, '{$1}'))
  return Object.fromEntries(
    [...byPath].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((row) => [row.route.method, operationOf(row, named, definitions)])),
    ]),
  )
}

/** OpenAPI's Operation Object of one row; `all` contains the rows that its links may name. */
function operationOf(row: NamedRow, all: readonly NamedRow[], definitions: Definitions): unknown {
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

/** OpenAPI's Link Objects: the operations that take the `id` of an answer. */
function linksFrom({ route }: NamedRow, all: readonly NamedRow[]): Record<string, unknown> {
  const field = route.gives ?? (route.entry && 'agent')
  if (!field) return {}
  return Object.fromEntries(
    all.flatMap((target) => {
      const named = parameterNames(target).find(([own]) => target.route.parameters?.[own] === field)
      if (!named || target.route === route || target.route.to !== route.to) return []
      const [, name] = named
      const operationId = operationIdOf(target.route)
      const parameters = {
        [name]: '$response.body#/id',
        ...(route.entry && target.route.conditional && { 'header.If-Match': '$response.header.ETag' }),
      }
      return [[operationId, { operationId, parameters }] as const]
    }),
  )
}
