import { z } from 'zod'
import { Endpoint } from '../../../schemas/entry-parts.ts'
import { isRecord } from '../../../schemas/json.ts'
import { PublishedPackage, VariableInput } from '../../../schemas/package.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { cut } from '../cards/manifest.ts'
import { assertHonestText } from '../entry/deceptive-text.ts'

/**
 * The server.json documents of the MCP registry, as fields of an entry and back. Schema 2025-12-11,
 * https://static.modelcontextprotocol.io/schemas/. Documents are read as the official registry serves them: it has
 * accepted an empty repository, and members that the schema does not name.
 */
export const ServerDocument = z.looseObject({
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(
      /^[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/,
      'A reverse domain name, one slash, and a name of letters, digits, dots, dashes and underscores.',
    ),
  description: z.string().trim().min(1),
  version: z.string().min(1).max(255),
  title: z.string().trim().max(200).nullish(),
  websiteUrl: z.string().nullish(),
  repository: z
    .looseObject({ url: z.string().nullish(), source: z.string().nullish(), subfolder: z.string().nullish() })
    .nullish(),
  packages: z.array(z.looseObject({})).nullish(),
  remotes: z.array(z.looseObject({ type: z.string(), url: z.string() })).nullish(),
})
export type ServerDocument = z.infer<typeof ServerDocument>

/** The fields of an entry that a server.json states. */
export type ServerFields = Pick<
  StoredEntry,
  'name' | 'description' | 'version' | 'packages' | 'endpoints' | 'source_url'
>

/**
 * Reads a document. Throws Failure `invalid_request` for text that hides characters, and ZodError for a document that
 * cannot be listed.
 */
export function readServer(value: unknown): ServerDocument {
  const document = ServerDocument.parse(value)
  assertHonestText(document, '/title', document.title)
  return document
}

/** What a document states in the fields of an entry. Throws ZodError for a package that cannot be listed. */
export function fieldsOf(document: ServerDocument): ServerFields {
  const { name, title, description, version } = document
  return {
    name: cut(title || name.slice(name.indexOf('/') + 1), 200),
    description: cut(description, 4000),
    version: cut(version, 100),
    packages: z.array(PublishedPackage).parse((document.packages ?? []).slice(0, maxParts).map(readable)),
    endpoints: (document.remotes ?? []).slice(0, maxParts).flatMap(endpointOf),
    source_url: repositoryUrl(document),
  }
}

const maxParts = 20

/** A package as the schema names it: what the official registry accepted beside the schema is left out. */
function readable(stated: Readonly<Record<string, unknown>>): unknown {
  const found = renamed(stated, toSnakeCase) as Record<string, unknown>
  const { environment_variables, runtime_arguments, package_arguments } = found
  return {
    ...found,
    ...(Array.isArray(environment_variables) && {
      environment_variables: environment_variables
        .filter(isRecord)
        .filter(({ name }) => name)
        .map(withFormat),
    }),
    ...(Array.isArray(runtime_arguments) && { runtime_arguments: runtime_arguments.map(readableArgument) }),
    ...(Array.isArray(package_arguments) && { package_arguments: package_arguments.map(readableArgument) }),
  }
}

function readableArgument(argument: unknown): unknown {
  if (!isRecord(argument)) return argument
  if (argument.type === 'positional' || argument.type === 'named') return withFormat(argument)
  return { ...withFormat(argument), type: String(argument.name).startsWith('-') ? 'named' : 'positional' }
}

function withFormat({ format, ...input }: Record<string, unknown>): Record<string, unknown> {
  const { success } = VariableInput.shape.format.safeParse(format)
  return success && format !== undefined ? { ...input, format } : input
}

/** A remote that states no usable address is left out. */
function endpointOf({ type, url, ...rest }: NonNullable<ServerDocument['remotes']>[number]): Endpoint[] {
  const { headers, variables } = renamed(rest, toSnakeCase) as Record<string, unknown>
  const stated = {
    protocol: 'mcp',
    url,
    ...(type && { binding: type }),
    // What is read again is compared with what is stored, which has no absent members.
    ...(headers !== undefined && { headers }),
    ...(variables !== undefined && { variables }),
  }
  const { success, data } = Endpoint.safeParse(stated)
  return success ? [data] : []
}

/** Where the source of the server is: its folder, if several servers share the repository. */
function repositoryUrl({ repository, websiteUrl }: ServerDocument): string | null {
  const url = [repository?.url, websiteUrl].find(isWebUrl)
  if (!url) return null
  const folder = repository?.subfolder?.replace(/^\/+|\/+$/g, '')
  if (!folder || url !== repository?.url) return cut(url, 2048)
  return cut(`${url.replace(/(\.git)?\/*$/, '')}/tree/HEAD/${folder}`, 2048)
}

function isWebUrl(text: string | null | undefined): text is string {
  return !!text && /^https?:\/\//i.test(text) && URL.canParse(text)
}

/** A value with other names of its members. The names of variables stay; absent members are left out. */
function renamed(value: unknown, rename: (name: string) => string, isOfVariables = false): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename))
  if (!isRecord(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [
      isOfVariables ? name : rename(name),
      renamed(member, rename, !isOfVariables && name === 'variables'),
    ]),
  )
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export const schemaUrl = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
/** The official registry takes no longer one. */
const maxServerDescription = 100

/** The fields of an entry that a server.json states, with the document as its publisher wrote it. */
export type Documented = ServerFields & Pick<StoredEntry, 'server'>

/**
 * The server.json of an entry under a server name and a version: as its publisher stated it, or made of its fields.
 * `bridge`: the address at which this gateway serves an agent that has neither an MCP endpoint nor a package.
 */
export function documentOf(
  entry: Documented,
  { name, version, bridge }: { readonly name: string; readonly version: string; readonly bridge?: string },
): Record<string, unknown> {
  if (entry.server) return entry.server
  const remotes = bridge ? [{ type: 'streamable-http', url: bridge }] : entry.endpoints.flatMap(remoteOf)
  const packages = entry.packages.map((stated) =>
    renamed({ transport: { type: 'stdio' }, ...stated }, toCamelCase),
  )
  const host = entry.source_url && new URL(entry.source_url).hostname
  const source = sources.find(([domain]) => domain === host)?.[1]
  return {
    $schema: schemaUrl,
    name,
    title: cut(entry.name, 100),
    description: cutAtWord(entry.description, maxServerDescription),
    version,
    ...(source && { repository: { url: entry.source_url, source } }),
    ...(!source && entry.source_url?.startsWith('https:') && { websiteUrl: entry.source_url }),
    ...(remotes.length > 0 && { remotes }),
    ...(packages.length > 0 && { packages }),
  }
}

const sources = [
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
] as const

/** An MCP endpoint over HTTP; the document has no place for others. */
function remoteOf({ protocol, url, binding, headers, variables }: Endpoint): object[] {
  if (protocol !== 'mcp' || !/^https?:/i.test(url)) return []
  const type = binding === 'sse' ? 'sse' : 'streamable-http'
  return [renamed({ type, url, headers, variables }, toCamelCase) as object]
}

/** The beginning of a text in one line, with an ellipsis where it goes on. */
function cutAtWord(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= maxLength) return line
  const head = cut(line, maxLength - 1)
  const end = head.lastIndexOf(' ')
  return `${end > maxLength / 2 ? head.slice(0, end) : head}…`
}
