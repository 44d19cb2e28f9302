import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { derivedName, slug } from '../../../schemas/derived-name.ts'
import { distinct } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { PackageName } from '../../../schemas/names.ts'
import { bareHost, isLocalName } from '../../net/fetch/address.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { cut, maxCapabilities, maxDescription, readCard } from '../cards/manifest.ts'
import { assertHonestText } from '../entry/deceptive-text.ts'
import { assertUnreserved } from '../entry/name-rules.ts'

/** The fields that an imported line states. */
export type Facts = Pick<
  StoredEntry,
  | 'package_name'
  | 'name'
  | 'description'
  | 'manifest_url'
  | 'tags'
  | 'category'
  | 'license'
  | 'version'
  | 'capabilities'
  | 'endpoints'
  | 'packages'
  | 'card'
  | 'source_url'
>

const McpServer = z.object({
  packageName: z.string().min(1),
  name: z.string().trim().min(1).max(200),
  description: z.string().trim().min(1).max(4000),
  category: z.string().nullish(),
  license: z.string().trim().max(200).nullish(),
  url: z.url({ protocol: /^https?$/ }),
  runtime: z.string().min(1).max(40),
  tools: z
    .array(z.object({ name: z.string().min(1).max(200), description: z.string().default('') }))
    .default([]),
})

/** Reads a card, or an MCP server of a list. Throws ZodError or Failure. */
export function readDocument(document: unknown): Facts {
  const isServer = z.looseObject({ packageName: z.string() }).safeParse(document).success
  const facts = isServer ? fromServer(McpServer.parse(document)) : fromCard(document)
  PackageName.parse(facts.package_name)
  assertUnreserved(facts.package_name)
  assertHonestText(document, '/name', facts.name)
  return facts
}

const maxNames = 5

/** Names the capabilities that are not listed, because an earlier one with the same name says something else. */
export function repeatedCapabilities(document: unknown): string | undefined {
  if (!isRecord(document)) return undefined
  const { tools, skills, capabilities } = document
  const names = [tools, skills, capabilities].flatMap((list) => (Array.isArray(list) ? repeatedIn(list) : []))
  if (names.length === 0) return undefined
  const shown = names.slice(0, maxNames).map((name) => `"${name}"`)
  const more = names.length > maxNames ? ` and ${names.length - maxNames} others` : ''
  return `Several capabilities have the name ${shown.join(', ')}${more}: only the first of a name is listed.`
}

function repeatedIn(list: readonly unknown[]): string[] {
  const byName = Map.groupBy(list.filter(isRecord), ({ id, name }) => id ?? name)
  return [...byName].flatMap(([name, [first, ...others]]) =>
    typeof name === 'string' && others.some((other) => !isDeepStrictEqual(other, first)) ? [name] : [],
  )
}

function fromServer(server: z.infer<typeof McpServer>): Facts {
  const registryType = { node: 'npm', python: 'pypi' }[server.runtime] ?? slug(server.runtime)
  const capabilities = distinct(
    server.tools.map(({ name, description }) => ({ name, description: cut(description, maxDescription) })),
  ).slice(0, maxCapabilities)
  return {
    package_name: derivedName(`${registryType}.${server.packageName.replace(/^@/, '')}`),
    name: server.name,
    description: server.description,
    manifest_url: null,
    tags: ['mcp'],
    category: server.category ? slug(server.category).slice(0, 40) : null,
    license: licenseOf(server.license),
    version: null,
    capabilities,
    endpoints: [],
    packages: [{ registry_type: registryType, identifier: server.packageName }],
    source_url: server.url,
    card: null,
  }
}

/** The error of a card without its URL, which may be a publication. */
function withoutUrl(document: object): Failure {
  const message =
    'package_name' in document
      ? 'This is a publication, not a card. Write it into a file of its own: `dragoman publish FILE` publishes it as yours.'
      : 'The card does not state its URL.'
  return new Failure('invalid_request', message)
}

function fromCard(document: unknown): Facts {
  const { package_name: _, ...manifest } = readCard(document)
  const card = document as Record<string, unknown>
  const { wellKnownURI, wellKnownUri, url } = card
  const [where, service] = [wellKnownURI ?? wellKnownUri ?? url, url].filter(isUrl)
  if (where === undefined) throw withoutUrl(card)
  const package_name = cardName(where, manifest.name)
  if (package_name === undefined) throw new Failure('invalid_request', 'The URL of the card names no domain.')
  return {
    ...manifest,
    package_name,
    manifest_url: where,
    category: null,
    packages: [],
    source_url: service ?? where,
  }
}

/** Lists contain `unknown` if they found no licence. */
function licenseOf(stated: string | null | undefined): string | null {
  return stated && stated.toLowerCase() !== 'unknown' ? stated : null
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

/**
 * The package name of an agent known by its card: the host of the card, reversed, and the agent's name. Undefined for a
 * card at an address or at a name of a private network: neither is a domain.
 */
export function cardName(url: string, name: string): string | undefined {
  const host = bareHost(new URL(url).hostname)
  if (isIP(host) !== 0 || isLocalName(host)) return undefined
  return derivedName(`${host.split('.').reverse().join('.')}/${name.replaceAll('/', '-')}`)
}
