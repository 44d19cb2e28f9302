import type { Access, Action, Agent } from '../../../../schemas/action.ts'
import { envelopeShape } from '../../../../schemas/envelope.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { problemShape } from '../../../../schemas/problem.ts'
import { scopes } from '../../../../schemas/scope.ts'
import { tags } from '../route.ts'
import { routes } from '../routes.ts'
import { type Components, createComponents } from './components.ts'
import { answerExamples, bodyExamples } from './examples.ts'
import { headers } from './headers.ts'
import { answerSchema, bodySchema, needsBody, parametersOf } from './inputs.ts'
import { otherPaths, otherSchemas } from './other-paths.ts'
import type { OpenApi, Operation } from './part.ts'
import { problemResponses, responsesOf } from './responses.ts'
import type { Described, Row } from './row.ts'

/** The OpenAPI 3.1 document, generated from the table and the schemas that serve requests. */
export function openApi(agents: readonly Agent[], version: string, baseUrl: string): OpenApi {
  const components = createComponents()
  components.add(problemShape.named ?? {})
  const rows = [envelope, ...rowsOf(agents)]
  // Schemas with names of their own come first: a body that is equal to one of them has its name.
  for (const { action } of rows)
    for (const { named, json } of [action.input, action.output]) components.add(named ?? json)
  const paths = pathsOf(rows, components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      version,
      description:
        'A registry of software agents that speaks every protocol agents speak. Answers may gain fields: ignore the fields that you do not know. An unknown parameter or field of a request is refused with 400. GET /openapi.json?tags=Search,Calling answers with the operations of these tags alone, for a smaller client.',
      contact: { name: 'The operator of this gateway', url: baseUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: { ...paths, ...otherPaths },
    components: {
      securitySchemes: securitySchemes(baseUrl),
      schemas: withExamples({
        ...components.schemas(),
        ...otherSchemas,
      }),
      parameters: components.parameters(),
      headers,
      links: components.links(),
      responses: problemResponses,
    },
  }
}

function securitySchemes(baseUrl: string): Record<string, unknown> {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A token, or an API key of the form drg_…',
    },
    basic: {
      type: 'http',
      scheme: 'basic',
      description: 'The id of an API key as name, the key as password.',
    },
    oauth: {
      type: 'oauth2',
      description: 'The same token, with the scopes that an operation needs.',
      flows: {
        clientCredentials: {
          tokenUrl: `${baseUrl}/oauth/token`,
          scopes: Object.fromEntries(scopes.map((scope) => [scope, scopeMeanings[scope]])),
        },
      },
    },
  }
}

const scopeMeanings: Readonly<Record<(typeof scopes)[number], string>> = {
  'agents:read': 'Search by intent, read audit logs.',
  'agents:write': 'Create, change and delete agents of your own.',
  'agents:publish': 'Publish agents, prove domains, transfer agents.',
  'a2a:call': 'Call agents.',
  playground: 'Use the playground.',
  admin: 'Administer the registry.',
}

/** `POST /a2a/message`, which is not in the table: it calls any action and returns the output of the action. */
const envelope: Row = {
  route: {
    method: 'post',
    path: '/a2a/message',
    id: 'sendMessage',
    tag: 'Calling',
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
  headers: ['X-Message-Id', 'X-Reply-To', 'Deprecation', 'Link'],
}

function rowsOf(agents: readonly Agent[]): Row[] {
  const actions = new Map<string, Described>(
    agents.flatMap(({ package_name, actions }) =>
      actions.map((action: Action) => [`${package_name} ${action.name}`, action] as const),
    ),
  )
  return routes.flatMap((route) => {
    const action = actions.get(`${route.to} ${route.action}`)
    return action ? [{ route, action }] : []
  })
}

function pathsOf(rows: readonly Row[], components: Components): OpenApi['paths'] {
  const byPath = Map.groupBy(rows, ({ route }) => route.path.replace(/:(\w+)/g, '{$1}'))
  return Object.fromEntries(
    [...byPath].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((row) => [row.route.method, operationOf(row, rows, components)])),
    ]),
  )
}

/** OpenAPI's Operation Object of one row; `all` contains the rows that its links may name. */
function operationOf(row: Row, all: readonly Row[], components: Components): Operation {
  const { route, action } = row
  const { id } = route
  const title = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
  const body = bodySchema(row, components)
  const example = bodyExamples[id]
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary ?? action.title,
    description: action.description,
    security: securityOf(route.access ?? action.access),
    parameters: parametersOf(row, components),
    ...(body && {
      requestBody: {
        required: needsBody(row, body, components),
        content: {
          'application/json': {
            schema: components.name(`${title}Body`, body),
            ...(example !== undefined && { example }),
          },
        },
      },
    }),
    responses: responsesOf(row, () => answerOf(row, title, components), linksFrom(row, all, components)),
  }
}

/** An answer with properties of its own is a component, whose name is that of the operation. */
function answerOf(row: Row, title: string, components: Components) {
  const schema = answerSchema(row, components)
  return 'properties' in schema ? components.name(`${title}Answer`, schema) : schema
}

/** `bearer` takes no scopes in most generators, so that the second scheme states them. */
function securityOf(access: Access): unknown[] {
  const scopes = typeof access === 'object' ? [access.scope] : []
  const required = [{ bearer: [] }, { oauth: scopes }]
  return access === 'public' ? [{}, ...required] : required
}

function withExamples(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const example = answerExamples[name]
      return [name, example === undefined || !isRecord(schema) ? schema : { ...schema, examples: [example] }]
    }),
  )
}

/** OpenAPI's Link Objects: the operations that take the `id` of an answer. */
function linksFrom({ route }: Row, all: readonly Row[], components: Components): Record<string, unknown> {
  const field = route.gives ?? (route.entry && 'agent')
  if (!field) return {}
  return Object.fromEntries(
    all.flatMap((target) => {
      const { id: operationId, parameters = {}, conditional, to } = target.route
      const name = Object.keys(parameters).find((candidate) => parameters[candidate] === field)
      if (name === undefined || target.route === route || to !== route.to) return []
      const values = {
        [name]: '$response.body#/id',
        ...(route.entry && conditional && { 'header.If-Match': '$response.header.ETag' }),
      }
      return [[operationId, components.link({ operationId, parameters: values })] as const]
    }),
  )
}
