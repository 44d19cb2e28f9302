import type { Action, Agent } from '../../../../schemas/action.ts'
import type { Envelope } from '../../../../schemas/envelope.ts'
import type { JsonSchema } from '../../../../schemas/json.ts'
import { toolName } from '../../../../schemas/names.ts'
import type { Scope } from '../../../../schemas/scope.ts'

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
  toEnvelope(input: Record<string, unknown>): Envelope
}

interface Annotations {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The advertised actions of the hosted agents, and call_agent, in a stable order. */
export function createTools(agents: readonly Agent[]): ReadonlyMap<string, Tool> {
  const tools = agents.flatMap((agent) =>
    agent.actions.filter((action) => action.advertised).map((action) => toTool(agent, action)),
  )
  const all = [...tools, callAgent]
  return new Map(all.map((tool) => [tool.listing.name, tool]))
}

function toTool(agent: Agent, action: Action): Tool {
  return namedTool(toolName(agent.package_name, action.name), agent, action)
}

/** An action of a hosted agent as a tool, under this name. */
export function namedTool(name: string, agent: Agent, action: Action): Tool {
  return {
    listing: {
      name,
      title: action.title,
      description: action.description,
      inputSchema: objectSchema(action.input.json),
      outputSchema: objectSchema(action.output.json),
      annotations: {
        title: action.title,
        readOnlyHint: action.effect === 'read',
        destructiveHint: action.effect === 'write',
        idempotentHint: action.effect === 'read',
        openWorldHint: agent.tags.includes('test'),
      },
      ...(typeof action.access === 'object' && { _meta: { 'dragoman/scope': action.access.scope } }),
    },
    toEnvelope: (params) => ({ to: agent.package_name, action: action.name, params }),
  }
}

function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === 'object' ? schema : { type: 'object', ...schema }
}

/** The envelope itself as a tool: the third step after search_agents and resolve_package. */
const callAgent: Tool = {
  listing: {
    name: 'call_agent',
    title: 'Call an agent',
    description:
      'Calls an action of an agent by its package name. Find the agent with search_agents and its actions with resolve_package first.',
    inputSchema: {
      type: 'object',
      properties: {
        package_name: { type: 'string', description: 'Package name or A2A address of the agent.' },
        action: { type: 'string', description: 'Name of the action, as its card states it.' },
        params: { type: 'object', description: 'Input of the action.', default: {} },
      },
      required: ['package_name', 'action'],
      additionalProperties: false,
    },
    outputSchema: { type: 'object', description: 'The output of the action.' },
    annotations: {
      title: 'Call an agent',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
  toEnvelope({ package_name, ...rest }) {
    return { ...rest, to: package_name } as Envelope
  },
}
