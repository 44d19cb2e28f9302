import { z } from 'zod'
import { presentFields } from './json.ts'
import { NamedInputs, Variables, variablesIn } from './package.ts'

export const State = z.enum(['STAGE', 'ACTIVE']).meta({ id: 'State' })
export type State = z.infer<typeof State>

/** From the lowest to the highest: no owner; an owner without proof; name, manifest and proved domain agree. */
export const VerificationLevel = z
  .enum(['unclaimed', 'unverified', 'domain_verified'])
  .meta({ id: 'VerificationLevel' })
export type VerificationLevel = z.infer<typeof VerificationLevel>

/** Hints of an MCP server about a tool. They are claims of the server: nothing is decided by them alone. */
const ToolAnnotations = z
  .looseObject({
    title: z.string().max(200).optional(),
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  })
  .meta({ id: 'ToolAnnotations' })

/** An icon as MCP servers state it. Nothing is fetched from its address. */
const Icon = z
  .looseObject({
    src: z.string().min(1).max(2048),
    mimeType: z.string().max(100).optional(),
    sizes: z.array(z.string().max(20)).max(10).optional(),
    theme: z.string().max(20).optional(),
  })
  .meta({ id: 'Icon' })

const schema = z.record(z.string(), z.unknown())

/** A capability of an agent, as its card, its tool list or its publisher states it. */
export const Capability = z
  .object({
    name: z.string().min(1).max(200),
    id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Id of the skill, if it differs from the name. Calls may use either; the agent receives the id.',
      ),
    title: z.string().max(200).optional().describe('Name for people.'),
    description: z.string().max(4000),
    input_schema: schema.optional(),
    output_schema: schema.optional(),
    read_only: z
      .boolean()
      .optional()
      .describe(
        'The agent states that the capability changes nothing. The gateway may then repeat the call, and use it as a liveness probe.',
      ),
    annotations: ToolAnnotations.optional().describe('Hints of MCP, as the agent states them.'),
    icons: z.array(Icon).max(10).optional(),
    _meta: schema.optional().describe('Further metadata of MCP, as the agent states it.'),
  })
  .meta({ id: 'Capability' })
export type Capability = z.infer<typeof Capability>

/** The name that selects a capability among those of its agent. */
export function calledName({
  id,
  name,
}: {
  readonly id?: string | undefined
  readonly name: string
}): string {
  return id ?? name
}

/** The capabilities that can be called: of several with one name, the first. */
export function distinct(capabilities: readonly Capability[]): Capability[] {
  const names = new Set<string>()
  return capabilities.filter((capability) => {
    const name = calledName(capability)
    return !names.has(name) && names.add(name)
  })
}

const options = [
  'title',
  'input_schema',
  'output_schema',
  'read_only',
  'annotations',
  'icons',
  '_meta',
] as const

/** The optional fields of a capability, as an agent states them, without the invalid ones. */
export function capabilityOptions(stated: Readonly<Record<string, unknown>>): Partial<Capability> {
  const valid = options.map((field) => [field, Capability.shape[field].safeParse(stated[field]).data])
  return presentFields(Object.fromEntries(valid))
}

/** The protocols by which agents are called. */
export const Protocol = z.enum(['a2a', 'mcp', 'envelope']).meta({ id: 'Protocol' })
export type Protocol = z.infer<typeof Protocol>

/** An address at which an agent answers. */
export const Endpoint = z
  .object({
    protocol: Protocol,
    url: z
      .string()
      .max(2048)
      .refine(isAddress, {
        error: 'An http, https, ws or wss URL, where names in {braces} stand for variables.',
      })
      .meta({ format: 'uri-template' }),
    version: z.string().max(50).optional(),
    binding: z
      .string()
      .max(200)
      .optional()
      .describe('Transport of the protocol: JSONRPC or HTTP+JSON for A2A, streamable-http or sse for MCP.'),
    idle_timeout_s: z
      .int()
      .min(1)
      .max(3600)
      .optional()
      .describe(
        'Seconds of silence after which a call has failed; only less than the gateway allows counts.',
      ),
    tenant: z.string().max(300).optional().describe('A2A 1.0: selects one of several agents at one address.'),
    headers: NamedInputs.optional().describe('Headers that the agent expects.'),
    variables: Variables.optional().describe('Variables of the address, by their names.'),
  })
  .meta({ id: 'Endpoint' })
export type Endpoint = z.infer<typeof Endpoint>

function isAddress(template: string): boolean {
  const url = variablesIn(template).reduce((text, name) => text.replaceAll(`{${name}}`, '0'), template)
  return URL.canParse(url) && /^(https?|wss?):$/.test(new URL(url).protocol)
}

/** What an MCP server states about itself to everybody. All texts are untrusted and bounded. */
export interface ServerStatement {
  readonly name?: string
  readonly title?: string
  readonly version?: string
  readonly description?: string
  readonly instructions?: string
  readonly capabilities: readonly Capability[]
  /** True if the server lists more tools than are read. */
  readonly is_cut: boolean
}
