import type { Agent } from '../../../schemas/action.ts'
import { envelopeShape } from '../../../schemas/envelope.ts'
import { createDefinitions, type Definitions } from './openapi/definitions.ts'
import { operationOf } from './openapi/operation.ts'
import { problemComponents } from './openapi/responses.ts'
import { type Described, type Row, shapeOf } from './openapi/row.ts'
import { routes } from './routes.ts'

/** The OpenAPI 3.1 document, made from the same table and schemas that serve. */
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

/** `POST /a2a/message`, which is no row of the table: it takes any action and answers with its output. */
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
    description: 'Calls any action of any agent; params and answer are as the action says.',
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

/** Rows whose paths differ in the names of parameters alone are one path, under the names of the first row. */
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
