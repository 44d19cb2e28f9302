import { type Callable, calledEndpoint, isHosted } from '../../../schemas/callable.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import type { TargetKind } from '../../../schemas/install.ts'
import { registryName } from '../../../schemas/names.ts'
import { httpLaunch } from './http-launch.ts'
import type { HostLaunch } from './launch.ts'
import { packageLaunch } from './package-launch.ts'
import { refuse } from './refuse.ts'
import type { Needs } from './template.ts'

/** The members of an entry that tell how it is installed. */
export type Installed = Pick<
  EntryDetail,
  | 'package_name'
  | 'name'
  | 'state'
  | 'suspended'
  | 'endpoints'
  | 'liveness'
  | 'packages'
  | 'callable'
  | 'card'
  | 'manifest_url'
  | 'deprecated'
>

/** Something that an entry offers to hosts. `launch` throws Failure `not_installable` if it must not be installed. */
export interface Target {
  readonly id: string
  readonly kind: TargetKind
  readonly title: string
  /** Refused without a launch if the caller asks for nothing. */
  launch(needs: Needs): { readonly launch: HostLaunch; readonly notes: readonly string[] }
}

/** The gateway that the entry is in. */
export interface Surroundings {
  readonly base_url: string
  /** Origins that its operator exempts from the rule of public addresses. */
  readonly allowed: readonly string[]
}

/** Everything that an entry offers, the most direct first. */
export function targetsOf(entry: Installed, { base_url, allowed }: Surroundings): Target[] {
  const remotes = isHosted(entry) ? [] : entry.endpoints.flatMap(remoteOf)
  const targets = [
    ...remotes.map((remote, index) => remoteTarget(entry, remote, index, allowed)),
    ...entry.packages.map((_, index) => packageTarget(entry, index)),
  ]
  const isCalled = isHosted(entry) || calledEndpoint(entry) !== undefined
  return isCalled ? [...targets, gatewayTarget(entry, base_url)] : targets
}

interface Remote {
  readonly endpoint: Endpoint
  readonly at: number
}

function remoteOf(endpoint: Endpoint, at: number): Remote[] {
  return endpoint.protocol === 'mcp' ? [{ endpoint, at }] : []
}

function remoteTarget(
  entry: Installed,
  { endpoint, at }: Remote,
  index: number,
  allowed: readonly string[],
): Target {
  return {
    id: numbered('remote', index),
    kind: 'remote',
    title: `${entry.name} at ${endpoint.url}`,
    launch(needs) {
      const stated = keyed(endpoint, entry.callable)
      const launch = httpLaunch(stated, `/endpoints/${at}`, needs, { allowed })
      return { launch, notes: [...notesOf(entry.callable, stated !== endpoint)] }
    },
  }
}

/** An address that asks for a key and does not say in which header: nearly always it is this one. */
function keyed(endpoint: Endpoint, callable: Callable): Endpoint {
  if (callable !== 'needs_key' || (endpoint.headers ?? []).length > 0) return endpoint
  if (/\{[^{}]+\}/.test(endpoint.url)) return endpoint
  return {
    ...endpoint,
    headers: [
      {
        name: 'Authorization',
        value: 'Bearer {key}',
        is_secret: true,
        variables: { key: { is_required: true, is_secret: true } },
      },
    ],
  }
}

function* notesOf(callable: Callable, isGuessed: boolean): Generator<string> {
  if (isGuessed)
    yield 'It asks for a key and does not state the header: Authorization: Bearer is the usual one.'
  if (callable === 'needs_sign_in')
    yield 'It asks for a sign-in: the host opens a page for it after the first connection.'
}

function packageTarget(entry: Installed, index: number): Target {
  const stated = entry.packages[index] as Installed['packages'][number]
  const { registry_type, identifier, version } = stated
  return {
    id: numbered('package', index),
    kind: 'package',
    title: `${entry.name}: ${registry_type} ${identifier}${version === undefined ? '' : ` ${version}`}`,
    launch(needs) {
      const launch = packageLaunch(stated, `/packages/${index}`, needs)
      return { launch, notes: [...packageNotes(stated, launch)] }
    },
  }
}

function* packageNotes(stated: Installed['packages'][number], launch: HostLaunch): Generator<string> {
  yield 'The package runs on your machine with your rights.'
  if (launch.kind === 'bundle') return
  if (!hasVersion(stated)) yield 'It states no version, so each start may take another one.'
  if (launch.kind !== 'stdio') yield 'Start it first: hosts only connect to its address.'
}

/** An image may have its version in its name. */
function hasVersion({ registry_type, identifier, version }: Installed['packages'][number]): boolean {
  const isImage = registry_type.toLowerCase() === 'oci'
  const [, tag] = (isImage && /[:@]([^/:@]+(?::[0-9a-f]+)?)$/.exec(identifier)) || []
  const stated = tag ?? version
  return stated !== undefined && stated !== 'latest'
}

function gatewayTarget({ package_name, name, state, suspended }: Installed, baseUrl: string): Target {
  return {
    id: 'gateway',
    kind: 'gateway',
    title: `${name} through this gateway`,
    launch(needs) {
      if (state !== 'ACTIVE') {
        throw refuse('/state', 'The gateway calls only agents that are ACTIVE.', 'Take it live first.')
      }
      if (suspended) {
        throw refuse(
          '/suspended',
          'The gateway calls no agent that an admin has suspended.',
          'Ask the admin.',
        )
      }
      // The registry is the gateway itself: its endpoint lists the tools of all hosted agents.
      const path = package_name === registryName ? '/mcp' : `/mcp/agents/${encodeURIComponent(package_name)}`
      return { launch: gatewayLaunch(`${baseUrl}${path}`, needs), notes: [] }
    },
  }
}

/** An MCP endpoint of this gateway: its users sign in, or give the host a token. */
export function gatewayLaunch(url: string, needs: Needs): HostLaunch {
  const token = needs.own(
    'DRAGOMAN_TOKEN',
    'Token of the gateway, for a host that cannot sign in; dragoman token create makes one.',
    true,
    'header',
  )
  return {
    kind: 'streamable-http',
    url: [url],
    headers: [{ name: 'Authorization', value: ['Bearer ', token] }],
    signs_in: true,
  }
}

function numbered(kind: string, index: number): string {
  return index === 0 ? kind : `${kind}-${index + 1}`
}
