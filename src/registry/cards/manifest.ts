import { z } from 'zod'
import type { PublishedField } from '../../../schemas/entry-fields.ts'
import { type Capability, capabilityOptions, distinct, type Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { issueText } from '../../../schemas/issue-text.ts'
import { isRecord } from '../../../schemas/json.ts'
import { envelopeBinding, PackageName, packageNameOf, testTag } from '../../../schemas/names.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

/** The fields of an entry that follow its card unless the owner stated them; findings are in this order. */
export const cardFields = [
  'name',
  'description',
  'version',
  'license',
  'tags',
  'capabilities',
  'endpoints',
] as const satisfies readonly PublishedField[]
export type CardField = (typeof cardFields)[number]

/** The parts of an agent card that the registry uses, in one form. */
export interface Manifest extends Readonly<Pick<StoredEntry, CardField>> {
  readonly package_name?: string
  readonly card: Record<string, unknown>
}

const text = z.string().trim().min(1)
const Skill = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.unknown()).optional(),
})
const Interface = z.looseObject({
  url: z.string().optional(),
  transport: z.string().optional(),
  protocolBinding: z.string().optional(),
  protocolVersion: z.string().optional(),
  tenant: z.string().optional(),
})
/** A2A cards 0.1 to 1.0 as found in practice, and the registry's own form. */
const AnyCard = z.looseObject({
  name: text.max(200),
  description: text,
  agent_id: z.string().optional(),
  package_name: z.string().optional(),
  version: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
  preferredTransport: z.string().optional().catch(undefined),
  protocolVersion: z.string().optional().catch(undefined),
  skills: z.array(Skill).optional().catch(undefined),
  capabilities: z.union([z.array(z.looseObject({ name: z.string() })), z.unknown()]).optional(),
  supportedInterfaces: z.array(Interface).optional().catch(undefined),
  additionalInterfaces: z.array(Interface).optional().catch(undefined),
  endpoints: z
    .array(
      z.looseObject({
        protocol: z.enum(['a2a', 'mcp', 'envelope']),
        url: z.string(),
        version: z.string().optional().catch(undefined),
        binding: z.string().optional().catch(undefined),
        tenant: z.string().optional().catch(undefined),
      }),
    )
    .optional()
    .catch(undefined),
  a2aEndpoint: z.string().optional().catch(undefined),
  mcpEndpoint: z.string().optional().catch(undefined),
  tags: z.array(z.unknown()).optional().catch(undefined),
  registryTags: z.array(z.unknown()).optional().catch(undefined),
  license: z.string().trim().optional().catch(undefined),
})
type AnyCard = z.infer<typeof AnyCard>

export const maxDescription = 4000
/** Tags of one skill and of one entry that are read from a card, and written to one. */
export const maxTags = 30
/** The same limit as for publications. */
export const maxCapabilities = 200
const maxEndpoints = 20
/** The limit of any message: no answer could carry a deeper card. */
const maxDepth = 30
/** Ten times the size of the largest known cards. */
const maxValues = 20_000

/** Reads a card. Throws Failure `upstream_invalid` with pointers if a card lacks a name or a description. */
export function readCard(document: unknown): Manifest {
  const excess = excessOf(document)
  if (excess) throw new Failure('upstream_invalid', excess.detail)
  const parsed = AnyCard.safeParse(document)
  if (!parsed.success) {
    const errors = parsed.error.issues.map((issue) => ({
      pointer: `/${issue.path.map(String).join('/')}`,
      detail: issueText(issue),
    }))
    throw new Failure('upstream_invalid', 'That is not an agent card.', { errors })
  }
  const card = parsed.data
  const [package_name] = namesIn(card)
  return {
    ...(package_name !== undefined && { package_name }),
    name: card.name,
    description: cut(card.description, maxDescription),
    version: card.version === undefined ? null : cut(card.version, 100),
    license: card.license ? cut(card.license, 200) : null,
    tags: tagsOf(card),
    capabilities: capabilitiesOf(card),
    endpoints: endpointsOf(card),
    card: document as Record<string, unknown>,
  }
}

/** The first characters of a text. The cut never splits a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')
}

/** The package names that a card states for its agent, in any spelling that callers may use. */
export function namesIn({ package_name, agent_id }: Record<string, unknown>): string[] {
  const stated = [package_name, agent_id].filter((name) => typeof name === 'string')
  const names = stated.map((name) => PackageName.safeParse(packageNameOf(name.trim().toLowerCase())).data)
  return names.filter((name) => name !== undefined)
}

/** The reason why a card is too large to read, or undefined. Walks level by level, so that depth costs no stack. */
export function excessOf(document: unknown): Excess | undefined {
  let level: unknown[] = [document]
  let values = 0
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.filter((value) => typeof value === 'object' && value !== null).flatMap(Object.values)
    values += level.length
    if (values > maxValues)
      return { code: 'too_large', detail: `The card has more than ${maxValues} values.` }
    if (level.length === 0) return undefined
  }
  return { code: 'too_deep', detail: `The card is nested deeper than ${maxDepth} levels.` }
}

interface Excess {
  readonly code: 'too_large' | 'too_deep'
  readonly detail: string
}

function tagsOf(card: AnyCard): string[] {
  const all = [
    ...(card.tags ?? []),
    ...(card.registryTags ?? []),
    ...(card.skills ?? []).flatMap((skill) => skill.tags ?? []),
  ]
  const words = all.filter((tag) => typeof tag === 'string').map((tag) => tag.trim().toLowerCase())
  const usable = words.filter((tag) => tag.length > 0 && tag.length <= 50 && tag !== testTag)
  return [...new Set(usable)].slice(0, maxTags)
}

/** Capabilities of the registry's own form, then skills; each id once, or each name without an id. */
function capabilitiesOf({ capabilities, skills = [] }: AnyCard): Capability[] {
  const listed = Array.isArray(capabilities) ? capabilities.filter(isRecord).flatMap(interfaceCapability) : []
  return distinct([...listed, ...skills.flatMap(skillCapability)]).slice(0, maxCapabilities)
}

function skillCapability({ id, name, description = '' }: z.infer<typeof Skill>): Capability | [] {
  const called = cut((name ?? id ?? '').trim(), 200)
  return called ? { name: called, ...idOf(id, called), description: cut(description, maxDescription) } : []
}

/** An id that is too long to be stated in a call is left out. */
function idOf(id: unknown, name: string): Pick<Capability, 'id'> {
  const isOther = typeof id === 'string' && id !== name && id.trim() !== '' && id.length <= 200
  return isOther ? { id } : {}
}

function interfaceCapability(capability: Record<string, unknown>): Capability | [] {
  const { name, description, ...stated } = capability
  if (typeof name !== 'string' || !name.trim()) return []
  const called = cut(name.trim(), 200)
  return {
    name: called,
    ...idOf(stated.id, called),
    description: typeof description === 'string' ? cut(description, maxDescription) : '',
    ...capabilityOptions(stated),
  }
}

function endpointsOf(card: AnyCard): Endpoint[] {
  const standard = [...(card.supportedInterfaces ?? []), ...(card.additionalInterfaces ?? [])]
  const own: Stated[] = card.endpoints ?? []
  const interfaces: Stated[] = standard.map((stated) => ({
    protocol: stated.protocolBinding === envelopeBinding ? 'envelope' : 'a2a',
    url: stated.url ?? '',
    version: stated.protocolVersion ?? card.protocolVersion,
    binding: stated.protocolBinding ?? stated.transport,
    tenant: stated.tenant,
  }))
  const named: Stated[] = [
    { protocol: 'a2a', url: card.a2aEndpoint ?? '' },
    { protocol: 'mcp', url: card.mcpEndpoint ?? '' },
  ]
  const main = endpoint({
    protocol: 'a2a',
    url: card.url ?? '',
    version: card.protocolVersion,
    binding: card.preferredTransport,
  })
  const all = [...own, ...interfaces, ...named].flatMap(endpoint)
  if (all.length > 0) return all.slice(0, maxEndpoints)
  return main
}

interface Stated {
  readonly protocol: Endpoint['protocol']
  readonly url: string
  readonly version?: string | undefined
  readonly binding?: string | undefined
  readonly tenant?: string | undefined
}

function endpoint({ protocol, url, version, binding, tenant }: Stated): Endpoint[] {
  if (url.length > 2048 || !URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol)) return []
  return [
    {
      protocol,
      url,
      ...(version && { version: cut(version, 50) }),
      ...(binding && { binding: cut(binding, 200) }),
      ...(tenant && { tenant: cut(tenant, 300) }),
    },
  ]
}
