import { variablesIn } from '../../../schemas/package.ts'
import type { StoredEntry } from '../../store/store.ts'

/** Hosts of repositories, where the first two parts of a path name a repository. */
const forges = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'])

type Facts = Pick<StoredEntry, 'owner' | 'hosted' | 'origin' | 'source_url' | 'endpoints' | 'packages'>

/** Where an entry comes from, for entries that may describe the same agent as an entry of another source. */
export function sourceOf({ owner, hosted, origin }: Facts): string | undefined {
  return owner || hosted ? undefined : (origin?.source ?? 'file')
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
  const [owner, name, kind, , ...folder] = url.pathname.split('/').filter(Boolean)
  if (!owner || !name) return []
  const path = kind === 'tree' || kind === 'blob' ? folder : []
  return [`repository ${[host, owner, name.replace(/\.git$/, ''), ...path].join('/').toLowerCase()}`]
}

function remoteKey(text: string): string[] {
  if (variablesIn(text).length > 0 || !URL.canParse(text)) return []
  const { host, pathname, search } = new URL(text)
  return [`remote ${host}${pathname.replace(/\/+$/, '')}${search}`]
}

/** An image without its tag and digest; other identifiers are compared as they are. */
function bare(identifier: string, type: string): string {
  return type === 'oci' ? identifier.replace(/@.*$/, '').replace(/:[^/:]*$/, '') : identifier
}
