import type { Action, Agent } from '../../../schemas/action.ts'
import { type Code, codes } from '../../../schemas/failure.ts'
import { isRecord, schemaAt } from '../../../schemas/json.ts'
import { type Route, routes } from './routes.ts'

/** The OpenAPI 3.1 document, made from the same table and schemas that serve. */
export function openApi(agents: readonly Agent[], version: string, baseUrl: string): unknown {
  const paths: Record<string, Record<string, unknown>> = { '/a2a/message': { post: message } }
  for (const route of routes) {
    const action = agents
      .find((agent) => agent.package_name === route.to)
      ?.actions.find((one) => one.name === route.action)
    if (!action) continue
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operation(route, action) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      version,
      description: 'A registry of software agents that speaks every protocol agents speak.',
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Problem: problemSchema },
    },
  }
}

const json = (schema: unknown) => ({ 'application/json': { schema } })

const problemAnswer = {
  description: 'What was wrong, where, and what to do (RFC 9457).',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'instance'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { enum: Object.keys(codes) satisfies string[] as Code[] },
    instance: { type: 'string' },
    retryable: { type: 'boolean' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { pointer: { type: 'string' }, detail: { type: 'string' } } },
    },
    hint: { type: 'string' },
    nearest: { type: 'array', items: { type: 'string' } },
  },
}

const message = {
  operationId: 'message',
  summary: 'Send an A2A envelope; the answer is the output of the action',
  security: [{}, { bearer: [] }],
  requestBody: {
    required: true,
    content: json({
      type: 'object',
      required: ['to', 'action'],
      properties: { to: { type: 'string' }, action: { type: 'string' }, params: { type: 'object' } },
      additionalProperties: false,
    }),
  },
  responses: { 200: { description: 'The output.', content: json({}) }, default: problemAnswer },
}

function operation(route: Route, action: Action): unknown {
  const body = bodySchema(route, action)
  return {
    operationId: `${route.method}${route.path.replace(/[^A-Za-z0-9]+(.)?/g, (_, letter?: string) => (letter ?? '').toUpperCase())}`,
    summary: route.summary,
    description: action.description,
    security: security(route, action),
    parameters: parameters(route, action),
    ...(body && {
      requestBody: { required: Array.isArray(body.required), content: json(body) },
    }),
    responses: { [route.status ?? 200]: answer(route, action), default: problemAnswer },
  }
}

function security(route: Route, action: Action): unknown[] {
  const access = route.access ?? action.access
  return access === 'public' ? [{}, { bearer: [] }] : [{ bearer: [] }]
}

function answer(route: Route, action: Action): unknown {
  if (route.status === 204) return { description: 'Done.' }
  const schema = action.output.json
  const shown =
    route.body === 'input' ? { type: 'object', required: ['output'], properties: { output: schema } } : schema
  return { description: action.title, content: json(shown) }
}

function parameters(route: Route, action: Action): unknown[] {
  const inPath = Object.keys(route.parameters ?? {}).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const inQuery = Object.entries(route.query ?? {}).map(([name, field]) => ({
    name,
    in: 'query',
    schema: withDefault(schemaAt(action.input.json, field.split('.')), route.defaults?.[field]),
  }))
  return [...inPath, ...inQuery]
}

function withDefault(schema: unknown, value: unknown): unknown {
  return value === undefined || !isRecord(schema) ? schema : { ...schema, default: value }
}

/** The input without what the path says. */
function bodySchema(route: Route, action: Action): Record<string, unknown> | undefined {
  if (!route.body) return undefined
  const schema = action.input.json
  if (route.body === 'input') {
    return { type: 'object', required: ['input'], properties: { input: schema }, additionalProperties: false }
  }
  const taken = new Set([
    ...Object.values(route.parameters ?? {}),
    ...(route.conditional ? ['expected_revision'] : []),
  ])
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => !taken.has(name)) : []
  const { required: _, ...rest } = schema
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !taken.has(name))),
    ...(required.length > 0 && { required }),
  }
}
