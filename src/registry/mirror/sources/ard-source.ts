import { z } from 'zod'
import { mirroredName, publishedBy, serverCardType } from '../../../../schemas/ard.ts'
import { slug } from '../../../../schemas/derived-name.ts'
import { type Capability, Endpoint } from '../../../../schemas/entry-parts.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { PackageName, Tag } from '../../../../schemas/names.ts'
import {
  cut,
  excessOf,
  type Manifest,
  maxCapabilities,
  maxDescription,
  maxTags,
  readCard,
} from '../../cards/manifest.ts'
import { assertHonestText } from '../../entry/deceptive-text.ts'
import { assertUnreserved } from '../../entry/name-rules.ts'
import type { Facts } from '../../import/read-line.ts'
import { type AgentItem, readItems, type SourceItem } from '../source-items.ts'
import { type ArdItem, type ArdLimits, mediaTypeOf, readArd } from './ard.ts'
import type { ReadSource } from './read-source.ts'
import type { MirrorSource, SourcePage } from './source.ts'

const pageItems = 100

/**
 * An ARD registry, or the catalogs of a site (ARD 0.91, AI Catalog 1.0). The cards of the agents are not fetched.
 * Agents of the publisher `own`, this registry, are not listed: the source mirrors us.
 */
export function createArdSource(
  url: string,
  read: ReadSource,
  own: string,
  limits?: ArdLimits,
): MirrorSource {
  return {
    knows_changes: false,
    resumes: false,
    async *pages({ signal }) {
      let items: ArdItem[] = []
      for await (const item of readArd({ read, url, signal, ...(limits && { limits }) })) {
        if (items.length === pageItems) {
          yield pageOf(items, url, own)
          items = []
        }
        items.push(item)
      }
      yield { ...pageOf(items, url, own), next: null }
    },
  }
}

function pageOf(values: readonly ArdItem[], url: string, own: string): SourcePage {
  const pages = values.map((item) => ({
    item,
    ...readItems<SourceItem>([item], () => agentOf(item, url, own)),
  }))
  return {
    items: pages.flatMap(({ items }) => items),
    rejected: pages.flatMap(({ item, rejected }) =>
      rejected.map(({ reason }) => ({ key: item.key, reason })),
    ),
    next: values.at(-1)?.key ?? null,
  }
}

function agentOf(item: ArdItem, url: string, own: string): AgentItem {
  if (publishedBy(item.key)?.publisher === own) {
    throw new Failure('invalid_request', 'It is an agent of this registry.')
  }
  return { kind: 'agent', key: item.key, facts: factsOf(item, url) }
}

const agentTypes: ReadonlySet<string> = new Set([
  'application/a2a-agent-card+json',
  'application/agent-card+json',
])

const Entry = z.looseObject({
  identifier: z
    .string()
    .max(500)
    .regex(/[a-z0-9]/i, 'Has neither a letter nor a digit.'),
  displayName: z.string().trim().min(1),
  type: z.string(),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional(),
  data: z.looseObject({}).optional(),
  description: z.string().trim().optional(),
  version: z.string().optional().catch(undefined),
  tags: z.array(z.unknown()).optional().catch(undefined),
  capabilities: z.array(z.unknown()).optional().catch(undefined),
  metadata: z.looseObject({}).optional().catch(undefined),
})
type Entry = z.infer<typeof Entry>

/** What an entry states in the fields of our own. Throws ZodError or Failure for an entry that cannot be listed. */
function factsOf({ document, base }: ArdItem, sourceUrl: string): Facts {
  const excess = excessOf(document)
  if (excess) throw new Failure('too_large', excess.detail)
  const entry = Entry.parse({ ...document, type: mediaTypeOf(document) })
  const isServer = entry.type === serverCardType
  if (!isServer && !agentTypes.has(entry.type)) {
    throw new Failure('invalid_request', `The type ${entry.type.slice(0, 100)} is not that of an agent.`)
  }
  assertHonestText(document, '/displayName', entry.displayName)
  const card = !isServer && entry.data ? readCard(entry.data) : undefined
  return {
    package_name: packageNameOf(entry.identifier, base),
    name: cut(entry.displayName, 200),
    description: cut(entry.description || card?.description || entry.displayName, maxDescription),
    manifest_url: entry.url ?? null,
    tags: tagsOf(entry, isServer),
    category: textIn(entry.metadata?.category, (text) => slug(text).slice(0, 40)),
    license: textIn(entry.metadata?.license, (text) => cut(text, 200)),
    version: entry.version ? cut(entry.version, 100) : null,
    capabilities: capabilitiesOf(entry, card),
    endpoints: isServer ? remotesOf(entry.data) : [...(card?.endpoints ?? [])],
    packages: [],
    card: card?.card ?? null,
    source_url: entry.url ?? sourceUrl,
  }
}

/** AI Catalog allows any identifier: one without a publisher is below the site of its catalog. */
function packageNameOf(text: string, base: string): string {
  const name = mirroredName(publishedBy(text) ?? { publisher: new URL(base).hostname, names: [text] })
  assertUnreserved(name)
  return PackageName.parse(name)
}

function tagsOf({ tags = [] }: Entry, isServer: boolean): string[] {
  const stated = tags.flatMap((tag) => Tag.safeParse(tag).data ?? [])
  return [...new Set([...(isServer ? ['mcp'] : []), ...stated])].slice(0, maxTags)
}

function textIn(value: unknown, read: (text: string) => string): string | null {
  return (typeof value === 'string' && read(value.trim())) || null
}

/** Names alone, or those of the card in the entry. */
function capabilitiesOf({ capabilities = [] }: Entry, card: Manifest | undefined): Capability[] {
  if (card && card.capabilities.length > 0) return card.capabilities
  const names = capabilities.filter((name) => typeof name === 'string' && name !== '') as string[]
  return [...new Set(names.map((name) => cut(name, 200)))]
    .slice(0, maxCapabilities)
    .map((name) => ({ name, description: '' }))
}

/** The remotes of a server card in the entry. */
function remotesOf(data: Entry['data']): Endpoint[] {
  const { remotes } = z
    .looseObject({ remotes: z.array(z.unknown()).optional().catch(undefined) })
    .parse(data ?? {})
  return (remotes ?? []).slice(0, 20).flatMap((remote) => {
    if (!isRecord(remote)) return []
    const { type, url } = remote
    const stated = { protocol: 'mcp', url, ...(typeof type === 'string' && { binding: type }) }
    return Endpoint.safeParse(stated).data ?? []
  })
}
