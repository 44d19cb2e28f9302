import { z } from 'zod'
import { Callable } from './callable.ts'
import { type Capability, calledName, type Endpoint, VerificationLevel } from './entry-parts.ts'
import { isRecord, type JsonSchema } from './json.ts'
import { listedActions } from './names.ts'
import { Package } from './package.ts'
import { ContentFlag } from './trust.ts'

export const Confidence = z
  .number()
  .min(0)
  .max(1)
  .describe(
    'Calibrated probability that the agent fits the query. It compares over queries; a score does not.',
  )

/** Confidence below which an agent does not fit well (docs/search-quality.md). */
export const fittingConfidence = 0.35

/** The forms of an answer about agents. */
export const Detail = z
  .enum(['brief', 'full'])
  .meta({ id: 'Detail' })
  .default('full')
  .describe('brief: what a language model needs to choose an agent and to call it; full: every field.')

/** An action of an agent, in as few words as a caller needs. */
const BriefAction = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    destructive: z
      .literal(true)
      .optional()
      .describe('The agent states that the action may delete or overwrite what exists.'),
    input_schema: z.record(z.string(), z.unknown()).optional(),
    required: z
      .record(z.string(), z.string())
      .optional()
      .describe('Names and types of the required params, in place of a schema that exceeds max_tokens.'),
  })
  .meta({ id: 'BriefAction' })
type BriefAction = z.infer<typeof BriefAction>

const shared = {
  package_name: z.string().describe('The agent, for call_agent.'),
  description: z.string().describe('What the agent does, by its publisher.'),
  callable: Callable,
  approved: z
    .literal(true)
    .optional()
    .describe('The operator has approved the package: this gateway runs it when it is called.'),
  credential_stored: z
    .boolean()
    .optional()
    .describe('Whether you have stored the credential that it asks for.'),
  verification_level: VerificationLevel,
  deprecated: z.literal(true).optional(),
  content_flags: z.array(ContentFlag).optional().describe('Warnings about the texts of the publisher.'),
}

/** One agent in a brief search. */
export const BriefHit = z
  .object({
    ...shared,
    confidence: Confidence.optional(),
    actions: z.array(BriefAction).optional().describe('The best one to three, the matching one first.'),
    more_actions: z.int().optional().describe('Number of further actions; resolve_package shows them.'),
    alternatives: z.array(z.string()).optional().describe('Other entries for the same agent.'),
  })
  .meta({ id: 'BriefHit' })
export type BriefHit = z.infer<typeof BriefHit>

/** One agent and all its actions, in brief. */
export const BriefEntry = z.object({
  ...shared,
  version: z.string().optional(),
  license: z.string().optional(),
  packages: z
    .array(Package.pick({ registry_type: true, identifier: true, version: true }))
    .optional()
    .describe('What installs the agent; install_config says how, for each host.'),
  actions: z.array(BriefAction),
  more_actions: z
    .int()
    .optional()
    .describe('Number of further actions that max_tokens leaves out; detail full has them.'),
  callable_reason: z
    .string()
    .optional()
    .describe('What a caller needs first; absent for hosted and open, and for packages that run here.'),
  next: z
    .string()
    .optional()
    .describe('How to learn actions that are unknown here, and how a package is run or installed.'),
})
export type BriefEntry = z.infer<typeof BriefEntry>

/** The facts of an entry that both forms show. */
interface Described {
  readonly package_name: string
  readonly description: string
  readonly callable: Callable
  readonly credential_stored?: boolean | undefined
  readonly verification_level: VerificationLevel
  readonly deprecated: unknown
  readonly content_flags: readonly ContentFlag[]
}

/** The facts that both brief forms show, without those that say nothing. */
export function briefFacts(entry: Described, maxDescription: number) {
  const { package_name, description, callable, credential_stored, verification_level } = entry
  const { deprecated, content_flags } = entry
  return {
    package_name,
    description: shortened(description, maxDescription),
    callable,
    ...(credential_stored !== undefined && { credential_stored }),
    verification_level,
    ...(deprecated !== null && { deprecated: true as const }),
    ...(content_flags.length > 0 && { content_flags: [...content_flags] }),
  }
}

/** A text on one line, cut at a word. */
export function shortened(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= max) return line
  const start = line.slice(0, max)
  const word = start.lastIndexOf(' ')
  return `${start.slice(0, word > max / 2 ? word : max).toWellFormed()}…`
}

const messageInput = { type: 'object', properties: { text: { type: 'string' } } } as const

/**
 * The actions of an agent that is called by this protocol, for callers that read no card: a skill of A2A takes a message
 * as text, and an A2A agent without skills takes messages.
 */
export function actionsOf(
  capabilities: readonly Capability[],
  protocol: Endpoint['protocol'] | undefined,
): readonly Capability[] {
  if (protocol !== 'a2a') return capabilities
  const message = { name: listedActions.message, description: 'Takes a message as text or as data.' }
  const skills = capabilities.length > 0 ? capabilities : [message]
  return skills.map((skill) => ({ input_schema: messageInput, ...skill }))
}

export const charactersPerToken = 4

/** An action with the sketch of its input, and its schema for as long as there is room. */
interface Draft {
  readonly sketched: BriefAction
  readonly schema: JsonSchema | undefined
}

export function actionDraft(capability: Capability, description?: string): Draft {
  const { input_schema } = capability
  const facts = {
    name: calledName(capability),
    ...(description && { description }),
    ...(isDestructive(capability) && { destructive: true as const }),
  }
  if (input_schema === undefined) return { sketched: facts, schema: undefined }
  return { sketched: { ...facts, required: requiredOf(input_schema) }, schema: input_schema }
}

/** In MCP only a tool that is not read-only is destructive. */
function isDestructive({ read_only, annotations }: Capability): boolean {
  return annotations?.destructiveHint === true && read_only !== true
}

/**
 * The actions with their schemas in place of the sketches, in order, as far as they fit into so many characters of
 * JSON more. A schema that does not fit leaves room for a later, shorter one.
 */
export function withSchemas(drafts: readonly Draft[], characters: number): BriefAction[] {
  let left = characters
  return drafts.map(({ sketched, schema }) => {
    if (schema === undefined) return sketched
    const { required: _, ...facts } = sketched
    const cost = lengthOf(facts) + schemaLength(schema) - lengthOf(sketched)
    if (cost > left) return sketched
    left -= cost
    return { ...facts, input_schema: schema }
  })
}

/** Stored schemas are the same objects in each answer, and may be long. */
const schemaLengths = new WeakMap<JsonSchema, number>()

function schemaLength(schema: JsonSchema): number {
  const length = schemaLengths.get(schema) ?? lengthOf({ input_schema: schema })
  schemaLengths.set(schema, length)
  return length
}

export function lengthOf(value: unknown): number {
  return JSON.stringify(value).length
}

const maxRequired = 20
const maxParamName = 100

/** Names and types of the required params of a schema, which a stranger may have written. */
function requiredOf({ required, properties }: JsonSchema): Record<string, string> {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const short = names.filter((name) => name.length <= maxParamName).slice(0, maxRequired)
  const fields = isRecord(properties) ? properties : {}
  return Object.fromEntries(short.map((name) => [name, typeOf(fields[name])]))
}

/** The type that a schema states; `any` if it states none in one word. */
function typeOf(schema: unknown): string {
  const type = isRecord(schema) ? schema.type : undefined
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
  return types.length > 0 ? types.join('|').slice(0, maxParamName) : 'any'
}
