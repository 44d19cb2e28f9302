import type { Action, Agent } from '../../../../schemas/action.ts'
import type { Envelope } from '../../../../schemas/envelope.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonSchema, listForm } from '../../../../schemas/json.ts'
import { agentAliases, listedActions, packageNameOf, toolName } from '../../../../schemas/names.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import type { Scope } from '../../../../schemas/scope.ts'
import { pointer, withAgentField } from '../../../../schemas/shape.ts'
import { parseJson } from '../../../common/json.ts'
import { defaultTokens } from './pieces.ts'

/** One MCP tool: its listing, and the envelope that a call of it becomes. */
export interface Tool {
  readonly listing: {
    readonly name: string
    readonly title: string
    readonly description: string
    readonly inputSchema: JsonSchema
    readonly outputSchema?: JsonSchema
    readonly annotations: Annotations
    /** `dragoman/scope`: the scope that a token needs; absent if the tool needs no scope of its own. */
    readonly _meta?: { readonly 'dragoman/scope': Scope }
  }
  /** The hosted agent whose action it is. */
  readonly agent?: string
  /** Answers above `max_tokens` come in pieces; `cursor` alone asks for the next piece. */
  readonly isPaged?: true
  /** Throws Failure for input that no envelope can carry. */
  toEnvelope(input: Record<string, unknown>): Envelope
}

interface Annotations {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/**
 * The advertised actions of the hosted agents, call_agent and continue_task, in a stable order. `chosen` restricts them
 * by their own names and by those of agents; empty: all. Throws Failure `invalid_request` for an unknown name.
 */
export function createTools(
  agents: readonly Agent[],
  chosen: readonly string[] = [],
): ReadonlyMap<string, Tool> {
  const byAgent = agents.map(({ package_name, ...agent }): [string, readonly Tool[]] => [
    package_name,
    agent.actions
      .filter(({ advertised }) => advertised)
      .map((action) => takingText(toTool({ package_name, ...agent }, action))),
  ])
  const all = [...byAgent.flatMap(([, tools]) => tools), takingText(callAgent), takingText(continueTask())]
  const shown = chosen.length === 0 ? all : choose(all, new Map(byAgent), chosen)
  return new Map(shown.map((tool) => [tool.listing.name, tool]))
}

function choose(
  all: readonly Tool[],
  byAgent: ReadonlyMap<string, readonly Tool[]>,
  chosen: readonly string[],
): readonly Tool[] {
  const selected = new Set(
    chosen.flatMap((name) => {
      const tools = byAgent.get(packageNameOf(name)) ?? all.filter(({ listing }) => listing.name === name)
      if (tools.length === 0)
        throw unknownTool(name, [...all.map(({ listing }) => listing.name), ...byAgent.keys()])
      return tools
    }),
  )
  return all.filter((tool) => selected.has(tool))
}

function toTool(agent: Agent, action: Action): Tool {
  return namedTool(toolName(agent.package_name, action.name), agent, action)
}

/** An action of a hosted agent as a tool, under this name. */
export function namedTool(name: string, agent: Agent, action: Action): Tool {
  const { description = action.description, input = action.input, output, defaults, asks } = action.tool ?? {}
  // Made at the first listing: a start has no use for the schemas of all tools.
  let inputSchema: JsonSchema | undefined
  let outputSchema: JsonSchema | undefined
  return {
    agent: agent.package_name,
    listing: {
      name,
      title: action.title,
      description,
      get inputSchema() {
        inputSchema ??= modelSchema(objectSchema(input.json))
        return inputSchema
      },
      get outputSchema() {
        outputSchema ??= output ? usually(output.json) : objectSchema(action.output.json)
        return outputSchema
      },
      annotations: {
        title: action.title,
        readOnlyHint: action.effect === 'read',
        destructiveHint: action.effect === 'write',
        idempotentHint: action.effect === 'read',
        openWorldHint: agent.tags.includes('test'),
      },
      ...(typeof action.access === 'object' && { _meta: { 'dragoman/scope': action.access.scope } }),
    },
    toEnvelope(params) {
      if (asks?.for.every((field) => isEmpty(params[field]))) {
        // A misspelt field is reported by its name.
        action.input.parse(params)
        throw Failure.invalidField(`/${asks.for[0]}`, asks.text)
      }
      return { to: agent.package_name, action: action.name, params: { ...defaults, ...params } }
    },
  }
}

/** The tool, which takes the objects and lists of its input as JSON text too: some hosts send all of them so. */
function takingText(tool: Tool): Tool {
  return { ...tool, toEnvelope: (input) => tool.toEnvelope(withoutText(input, tool.listing)) }
}

function withoutText(input: Record<string, unknown>, listing: Tool['listing']): Record<string, unknown> {
  const read = Object.entries(input).flatMap(([name, text]) => {
    if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return []
    const value = parseJson(text)
    const properties = listing.inputSchema.properties as Record<string, JsonSchema> | undefined
    const isTaken = properties?.[name]?.type === (Array.isArray(value) ? 'array' : 'object')
    return isTaken && value !== undefined ? [[name, value] as const] : []
  })
  return read.length > 0 ? { ...input, ...Object.fromEntries(read) } : input
}

/** True for a field that states nothing. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (isRecord(value) && Object.keys(value).length === 0)
}

/** Some hosts show models the schemas of outputs: the usual form is there, and any other one is any object. */
function usually(schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    anyOf: [schema, { type: 'object', description: 'Another form that the call states.' }],
  }
}

function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === 'object' ? schema : { type: 'object', ...schema }
}

/** The envelope itself as a tool: the step after search_agents. */
const callAgent: Tool = {
  listing: {
    name: 'call_agent',
    title: 'Call an agent',
    description:
      'Calls an action of an agent that search_agents found. Ask before destructive ones. Example: {"agent": "svc.utility.reader", "action": "extract_content", "params": {"url": "https://example.com/"}}.',
    inputSchema: {
      type: 'object',
      properties: {
        agent: { type: 'string', description: 'package_name of the agent.' },
        action: { type: 'string' },
        params: { type: 'object', description: 'Input of the action.' },
        max_tokens: { type: 'integer', default: defaultTokens },
        cursor: { type: 'string', description: 'next_cursor of an answer.' },
      },
      required: ['agent', 'action'],
    },
    annotations: annotationsOf('Call an agent'),
  },
  isPaged: true,
  toEnvelope(input) {
    const { agent, ...rest } = withAgent(input)
    const misplaced = Object.keys(rest).filter((name) => !envelopeFields.has(name))
    if (misplaced.length > 0) throw misplacedFields(misplaced)
    if (rest.action === undefined || rest.action === '')
      throw Failure.invalidField('/action', 'Name an action of the agent: resolve_package shows them all.')
    return { ...rest, to: agent } as Envelope
  },
}

const envelopeFields: ReadonlySet<string> = new Set(['action', 'params', 'message_id', 'reply_to'])
const callFields = ['agent', 'action', 'params', 'max_tokens', 'cursor']

/** Models often put the input of the action beside `params`. */
function misplacedFields(names: readonly string[]): Failure {
  const errors = names.slice(0, callFields.length).map((name) => ({
    pointer: pointer([name]),
    detail: 'There is no such field.',
  }))
  const close = [...new Set(names.flatMap((name) => nearest(name, callFields)))]
  const hint = `call_agent takes ${callFields.join(', ')}. The input of the action goes into params.`
  return new Failure('invalid_request', `${errors[0]?.pointer}: There is no such field. ${hint}`, {
    errors,
    ...(close.length > 0 && { nearest: close }),
  })
}

/** The answer to an agent that asked for input: on `/mcp` for any agent, elsewhere for the agent of the address. */
export function continueTask(packageName?: string): Tool {
  const { continuation } = listedActions
  const example = `${packageName === undefined ? '"agent": "com.example.travel", ' : ''}"task_id": "…", "input": {"text": "Friday"}`
  return {
    listing: {
      name: continuation,
      title: 'Continue a task',
      description: `Answers the question of an agent whose call ended with status input_required. Example: {${example}}.`,
      inputSchema: {
        type: 'object',
        properties: {
          ...(packageName === undefined && { agent: { type: 'string' } }),
          task_id: { type: 'string' },
          input: { type: 'object' },
        },
        required: [...(packageName === undefined ? ['agent'] : []), 'task_id', 'input'],
      },
      annotations: annotationsOf('Continue a task'),
      _meta: { 'dragoman/scope': 'a2a:call' },
    },
    ...(packageName === undefined && { isPaged: true }),
    toEnvelope(input) {
      const { agent = packageName, ...params } = packageName === undefined ? withAgent(input) : input
      return { to: agent as string, action: continuation, params }
    },
  }
}

/** As an envelope takes them in `to`. */
const maxAgentLength = 220

/** The input of a tool that names its agent. Throws Failure `invalid_request`. */
function withAgent(input: Record<string, unknown>): Record<string, unknown> {
  const { agent, ...rest } = withAgentField(input, agentAliases) as Record<string, unknown>
  if (typeof agent === 'string' && agent !== '' && agent.length <= maxAgentLength) return { agent, ...rest }
  throw Failure.invalidField('/agent', 'Give the package_name of the agent, such as svc.utility.reader.')
}

function unknownTool(name: string, names: readonly string[]): Failure {
  const close = nearest(name, names)
  return new Failure(
    'invalid_request',
    `DRAGOMAN_MCP_TOOLS: ${name} is neither a tool nor a hosted agent.`,
    close.length > 0 ? { nearest: close } : {},
  )
}

function annotationsOf(title: string): Annotations {
  return { title, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
}

/**
 * Keywords that cost a model tokens and tell it little: descriptions state what matters, and the action checks its input
 * in each call.
 */
const left = new Set([
  ...['minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minItems', 'maxItems', 'additionalProperties', 'examples'],
])

/**
 * An input schema as language models see it: types, names, descriptions, choices and defaults; of a list that takes one
 * value as well, the list.
 */
function modelSchema(schema: JsonSchema): JsonSchema {
  const shown = Object.entries(listForm(schema)).filter(([keyword]) => !left.has(keyword))
  return Object.fromEntries(shown.map(([keyword, value]) => [keyword, inner(keyword, value)]))
}

function inner(keyword: string, value: unknown): unknown {
  if (keyword === 'properties' && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, schemaOf(field)]))
  }
  if (keyword === 'items') return schemaOf(value)
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map(schemaOf)
  return value
}

function schemaOf(value: unknown): unknown {
  return isRecord(value) ? modelSchema(value) : value
}
