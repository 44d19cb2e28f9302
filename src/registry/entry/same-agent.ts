import { isIP } from 'node:net'
import { variablesIn } from '../../../schemas/package.ts'
import { bareHost, isLocalName, isPublicAddress } from '../../net/fetch/address.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

/** Hosts of repositories, where the first two parts of a path name a repository. */
const forges = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'])

type Facts = Pick<StoredEntry, 'owner' | 'hosted' | 'origin' | 'source_url' | 'endpoints' | 'packages'>

/** Where an entry comes from, for entries that may describe the same agent as an entry of another source. */
export function sourceOf({ owner, hosted, origin }: Facts): string | null {
  return owner || hosted ? null : (origin?.source ?? 'file')
}

/**
 * What an entry has in common with entries of other sources that describe the same agent: its repository with the
 * folder, its addresses and its packages. An entry with an owner is itself alone.
 */
export function agentKeysOf(entry: Facts): readonly string[] {
  if (entry.owner || entry.hosted) return []
  const repository = repositoryKey(entry.source_url)
  const remotes = entry.endpoints.flatMap(({ url }) => remoteKey(url))
  const packages = entry.packages.map(
    ({ registry_type, identifier }) => `package ${registry_type} ${bare(identifier, registry_type)}`,
  )
  return [...new Set([...repository, ...remotes, ...packages])]
}

function repositoryKey(text: string | null): string[] {
  const url = text !== null && URL.canParse(text) ? new URL(text) : undefined
  const host = url?.hostname.replace(/^www\./, '')
  if (!url || host === undefined || !forges.has(host)) return []
  const parts = url.pathname.split('/').filter(Boolean)
  const [repository, inside] = host === 'gitlab.com' ? inGroups(parts) : [parts.slice(0, 2), parts.slice(2)]
  if (repository.length < 2) return []
  const [kind = '', , ...folder] = inside
  const path = /^(tree|blob|src)$/.test(kind) ? folder : []
  const name = repository.join('/').replace(/\.git$/, '')
  return [`repository ${[host, name, ...path].join('/').toLowerCase()}`]
}

/** GitLab nests groups to any depth; what is inside a repository follows a dash, in old addresses its kind. */
function inGroups(parts: readonly string[]): [readonly string[], readonly string[]] {
  const dash = parts.indexOf('-')
  if (dash > 0) return [parts.slice(0, dash), parts.slice(dash + 1)]
  const end = parts.findIndex((part, index) => index > 1 && /^(tree|blob)$/.test(part))
  return end < 0 ? [parts, []] : [parts.slice(0, end), parts.slice(end)]
}

function remoteKey(text: string): string[] {
  if (variablesIn(text).length > 0 || !URL.canParse(text)) return []
  const { host, hostname, pathname, search } = new URL(text)
  if (!isPublicHost(hostname)) return []
  return [`remote ${host}${pathname.replace(/\/+$/, '')}${search}`]
}

/** What each machine has at an address of its own is not one agent. */
function isPublicHost(hostname: string): boolean {
  const host = bareHost(hostname)
  return isIP(host) === 0 ? !isLocalName(host) : isPublicAddress(host)
}

/** An image without its tag and digest; other identifiers are compared as they are. */
function bare(identifier: string, type: string): string {
  return type === 'oci' ? identifier.replace(/@.*$/, '').replace(/:[^/:]*$/, '') : identifier
}
