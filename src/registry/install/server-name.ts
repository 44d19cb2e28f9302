import { registryName } from '../../../schemas/names.ts'

const generic = new Set(['mcp', 'server', 'mcp-server', 'api', 'main', 'app', 'agent', 'src', 'latest'])
const maxLength = 40

/**
 * The name of an agent's server in configurations: the last part of its package name, with the part before it if the
 * last part says nothing. Hosts take letters, digits, dashes and underscores.
 */
export function serverNameOf(packageName: string): string {
  if (packageName === registryName) return 'dragoman'
  const parts = packageName
    .toLowerCase()
    .split(/[./]/)
    .map((part) => part.replaceAll(/[^a-z0-9_-]+/g, '-').replaceAll(/^[-_]+|[-_]+$/g, ''))
    .filter(Boolean)
  const last = parts.at(-1) ?? 'agent'
  const name = generic.has(last) && parts.length > 1 ? `${parts.at(-2)}-${last}` : last
  return name.slice(0, maxLength).replaceAll(/[-_]+$/g, '')
}
