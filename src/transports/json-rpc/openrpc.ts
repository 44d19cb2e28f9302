import type { Action, Agent } from '../../../schemas/action.ts'
import { envelopeShape } from '../../../schemas/envelope.ts'
import { type Code, codes } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject, type JsonSchema } from '../../../schemas/json.ts'
import { shortName } from '../../../schemas/names.ts'
import { type Components, createComponents } from '../http/openapi/components.ts'

/**
 * The OpenRPC 1.3.2 document (https://spec.open-rpc.org), generated from the actions. Schemas that several answers share
 * are components, as in the OpenAPI document: whole in each answer they would fill half a megabyte.
 */
export function openRpc(agents: readonly Agent[], version: string, baseUrl: string): JsonObject {
  const components = createComponents()
  const methods = agents.flatMap((agent) =>
    agent.actions.map((action) => ofAction(agent, action, components)),
  )
  const document = {
    openrpc: '1.3.2',
    info: {
      title: 'Dragoman',
      version,
      description: 'A registry of software agents that speaks every protocol agents speak.',
    },
    servers: [
      { name: 'http', url: `${baseUrl}/rpc` },
      { name: 'websocket', url: `${baseUrl.replace(/^http/, 'ws')}/rpc` },
    ],
    methods: [...methods, send],
    components: {
      schemas: components.schemas(),
      errors: Object.fromEntries(Object.entries(codes).map(([code, row]) => [code, ofCode(code, row)])),
    },
  }
  return document as unknown as JsonObject
}

function ofAction(agent: Agent, action: Action, components: Components): unknown {
  return {
    name: `${shortName(agent.package_name)}.${action.name}`,
    summary: action.title,
    description: action.description,
    tags: [{ name: agent.package_name }],
    paramStructure: 'by-name',
    params: paramsOf(action.input.json),
    result: { name: 'output', schema: components.add(action.output.named ?? action.output.json) },
    errors,
  }
}

const errors = Object.keys(codes).map((code) => ({ $ref: `#/components/errors/${code}` }))

const send = {
  name: 'message.send',
  summary: 'Send an envelope',
  description: 'Calls an action of any agent. The result is the output of the action itself.',
  paramStructure: 'by-name',
  params: paramsOf(envelopeShape.json),
  result: { name: 'output', schema: {} },
  errors,
}

function paramsOf(input: JsonSchema): unknown[] {
  const required = new Set(Array.isArray(input.required) ? input.required : [])
  const properties = isRecord(input.properties) ? Object.entries(input.properties) : []
  return properties.map(([name, schema]) => ({
    name,
    ...(isRecord(schema) && typeof schema.description === 'string' && { description: schema.description }),
    ...(required.has(name) && { required: true }),
    schema,
  }))
}

/** `data.code` distinguishes errors with the same number. */
function ofCode(code: string, { rpc, title }: (typeof codes)[Code]): Json {
  return { code: rpc, message: title, data: { code } }
}
