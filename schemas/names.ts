import { z } from 'zod'

/** Dotted lower-case segments, optionally one slash: `com.example.weather`, `io.github.user/server`. */
const grammar = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?:\/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)?$/

export const PackageName = z
  .string()
  .min(3)
  .max(200)
  .regex(grammar, 'Use lower-case letters, digits, dots, dashes and underscores, with at most one slash.')

/** A free slug, compared without case: targets and categories. */
export const Slug = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,40}$/, 'Use 1 to 40 letters, digits and dashes.')
  .toLowerCase()

/** What a JSON Schema says of a text that is trimmed and must not be empty then. */
export const notBlank = { pattern: '\\S' }

/** Free words, compared without case. */
export const Tag = z.string().trim().toLowerCase().min(1).max(50).meta(notBlank)

/** The A2A address of a package is `custom.` + its name; both forms name the same agent, so no name begins so. */
export function packageNameOf(address: string): string {
  return address.startsWith('custom.') ? address.slice('custom.'.length) : address
}

export function addressOf(packageName: string): string {
  return `custom.${packageName}`
}

export const testTag = 'test'

/** How methods and tools name an agent: the last part of its package name. */
export function shortName(packageName: string): string {
  return packageName.slice(packageName.lastIndexOf('.') + 1)
}

/** How MCP names an action of a hosted agent: `wiki_get_summary`; those of the registry stand alone. */
export function toolName(packageName: string, action: string): string {
  const short = shortName(packageName)
  return short === 'registry' ? action : `${short}_${action}`
}

/** Whether a namespace covers the name: `com.example` covers `com.example.weather` and `com.example/weather`. */
export function isUnder(packageName: string, namespace: string): boolean {
  if (packageName === namespace) return true
  return packageName.startsWith(`${namespace}.`) || packageName.startsWith(`${namespace}/`)
}

/** Names the envelope `{to, action, params}` among the protocol bindings of A2A. */
export const envelopeBinding = 'urn:dragoman:envelope:1'

/** The extension by which a card of A2A says how the agent is called through the registry. */
export const registryExtension = 'urn:dragoman:registry:1'

/** What may be asked of a listed agent beside its own capabilities. */
export const listedActions = {
  /** Of A2A agents: a message in words or as data. */
  message: 'send_message',
  /** Answers what an agent asked back. */
  continuation: 'continue_task',
  /** Of agents that can be asked what they can do. */
  description: 'list_capabilities',
} as const
