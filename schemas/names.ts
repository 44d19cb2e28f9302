import { z } from 'zod'

/** Labels with single dots between them: an empty label would stand under no domain. */
const part = String.raw`[a-z0-9](?:(?:\.?[a-z0-9_-])*\.?[a-z0-9])?`
/** Dotted lower-case segments, optionally one slash: `com.example.weather`, `io.github.user/server`. */
const grammar = new RegExp(String.raw`^${part}(?:\/${part})?$`)

export const PackageName = z
  .string()
  .min(3)
  .max(200)
  .regex(
    grammar,
    'Use lower-case letters, digits, single dots, dashes and underscores, with at most one slash.',
  )

/** The registry itself, which is the gateway. */
export const registryName = 'svc.registry'

/** A free slug, compared without case: targets and categories. */
export const Slug = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,40}$/, 'Use 1 to 40 letters, digits and dashes.')
  .toLowerCase()

/** JSON Schema of a text that must not be blank. */
export const notBlank = { pattern: '\\S' }

/** Free words, compared without case. */
export const Tag = z.string().trim().toLowerCase().min(1).max(50).meta(notBlank)

/**
 * The A2A address of a package is `custom.` + its name. Both forms name the same agent, so no name may begin with
 * `custom.`.
 */
export function packageNameOf(address: string): string {
  return address.startsWith('custom.') ? address.slice('custom.'.length) : address
}

export function addressOf(packageName: string): string {
  return `custom.${packageName}`
}

/** Names under which inputs take the field `agent` as well. */
export const agentAliases: readonly string[] = ['package_name', 'to']

/** What callers call it that have not read the input, where the input has no such field. */
export const agentGuesses: readonly string[] = ['id', 'name', 'identifier']

export const testTag = 'test'

/** The name of an agent in methods and tools: the last part of its package name. */
export function shortName(packageName: string): string {
  return packageName.slice(packageName.lastIndexOf('.') + 1)
}

/** The MCP tool name of a hosted agent's action: `wiki_get_summary`. Actions of the registry have no prefix. */
export function toolName(packageName: string, action: string): string {
  const short = shortName(packageName)
  return short === 'registry' ? action : `${short}_${action}`
}

/** True if a namespace covers the name: `com.example` covers `com.example.weather` and `com.example/weather`. */
export function isUnder(packageName: string, namespace: string): boolean {
  if (packageName === namespace) return true
  return packageName.startsWith(`${namespace}.`) || packageName.startsWith(`${namespace}/`)
}

/** Identifies the envelope `{to, action, params}` among the protocol bindings of A2A. */
export const envelopeBinding = 'urn:dragoman:envelope:1'

/** The extension in an A2A card that describes how to call the agent through the registry. */
export const registryExtension = 'urn:dragoman:registry:1'

/** Actions of every listed agent in addition to its own capabilities. */
export const listedActions = {
  /** A2A agents: a message as text or data. */
  message: 'send_message',
  /** Answers the question of an agent that asked for input. */
  continuation: 'continue_task',
  /** A2A agents: waits for a task that the agent works on already. */
  following: 'follow_task',
  /** A2A agents: cancels a task that waits for its caller. */
  cancellation: 'cancel_task',
  /** Agents that can list their capabilities. */
  description: 'list_capabilities',
  /** MCP servers: one request, passed on as it is. */
  request: 'mcp_request',
  /** MCP servers: a subscription to changes of their lists and resources. */
  subscription: 'mcp_listen',
} as const

/** Finds the names of actions in a hint: not in a list, in a command that calls one, or in the name of an agent. */
export function actionsInProse(names: readonly string[]): RegExp {
  return new RegExp(
    `(?<!${registryName.replace('.', '\\.')} |[:,] |["'./-])\\b(${names.join('|')})\\b(?![,"'/-]|\\.\\w)`,
    'g',
  )
}
