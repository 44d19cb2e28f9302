import { z } from 'zod'
import { Callable } from '../../../schemas/callable.ts'
import { EntryDetail } from '../../../schemas/card.ts'
import { State } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { HostId, HostInstall, InstallTarget } from '../../../schemas/install.ts'
import { unseen } from '../../../schemas/liveness.ts'
import { packageNameOf, registryName } from '../../../schemas/names.ts'
import { command } from '../../app/assets.ts'
import { type Config, locationOf } from '../../app/config.ts'
import { type Host, hosts } from '../../registry/install/hosts.ts'
import { hostInstall, installConfigOf } from '../../registry/install/install-config.ts'
import type { HostLaunch, NamedTemplate, ProcessLaunch } from '../../registry/install/launch.ts'
import { serverNameOf } from '../../registry/install/server-name.ts'
import { gatewayLaunch } from '../../registry/install/targets.ts'
import { Needs } from '../../registry/install/template.ts'
import { gatewayAddress } from '../address.ts'
import { ask, openClient } from '../client.ts'
import type { Piece } from './host-text.ts'

/** What a host gets: the server's name, and the piece of its file. */
export interface Plan {
  readonly name: string
  readonly install: HostInstall
  /** What each target that the host can run gives, the chosen one first. */
  readonly pieces: readonly Piece[]
  /** What the user has to know or to do. */
  readonly notes: readonly string[]
}

export interface Choice {
  readonly agent: string | undefined
  readonly host: HostId
  readonly target: string | undefined
  readonly name: string | undefined
  /** Lets the model change what its user may change here. */
  readonly manage?: boolean | undefined
}

const ownName = 'dragoman'

export function hostOf(id: HostId): Host {
  const host = hosts.find((row) => row.id === id)
  if (host) return host
  throw new Failure('invalid_request', `There is no host ${id}.`)
}

/** The name that an agent's server has, without asking for its entry. */
export function nameOfServer({ agent, name }: Pick<Choice, 'agent' | 'name'>): string {
  return name ?? (agent === undefined ? ownName : serverNameOf(packageNameOf(agent)))
}

/** What to write for an agent, or for this gateway itself. Its texts are checked here, whoever the gateway is. */
export async function planOf(choice: Choice, config: Config): Promise<Plan> {
  return choice.agent === undefined ? ownPlan(choice, config) : await agentPlan(choice.agent, choice, config)
}

const Installed = EntryDetail.pick({
  package_name: true,
  name: true,
  endpoints: true,
  packages: true,
  card: true,
  manifest_url: true,
  deprecated: true,
}).extend({
  // A newer gateway may have more words for these.
  state: State.catch('STAGE'),
  suspended: EntryDetail.shape.suspended.catch(null),
  callable: Callable.catch('stated'),
  liveness: EntryDetail.shape.liveness.catch(unseen),
})

async function agentPlan(agent: string, choice: Choice, config: Config): Promise<Plan> {
  await using client = await openClient(config)
  const answer = await ask(client, 'get_agent', { agent })
  const { success, data, error } = Installed.safeParse(answer)
  if (!success) {
    throw new Failure(
      'upstream_invalid',
      'The gateway gives an entry that this version cannot read.',
      {},
      z.treeifyError(error),
    )
  }
  const { host, target, name } = choice
  const surroundings = { base_url: await gatewayAddress(config), allowed: config.DRAGOMAN_ALLOW_ORIGINS }
  const found = installConfigOf(data, surroundings, { host, target, name })
  const usables = found.targets.filter(({ hosts: [row] }) => row?.reason === null)
  const [usable] = usables
  const [install] = usable?.hosts ?? []
  if (!usable || !install) throw unusable(found.targets)
  const { start, notes } = usable
  const refused = found.refused.map(({ target, pointer, reason }) => `Not ${target}: ${pointer}: ${reason}`)
  return {
    name: found.name,
    install,
    notes: [
      ...choiceOf(usables),
      ...notes,
      ...(start === null ? [] : [`Start it first: ${start}`]),
      ...(usable.kind === 'gateway' && hostOf(host).sign_in === undefined ? [tokenNote] : []),
      ...leftOut(usable),
      ...refused,
    ],
    pieces: usables.flatMap(({ hosts: [row], needs }) => pieceOf(row, needs)),
  }
}

/** The values that the user gives stand in it as marks. */
function pieceOf(install: HostInstall | undefined, needs: readonly { readonly variable: string }[]): Piece[] {
  const config = install?.config
  return config ? [{ config, marks: needs.map(({ variable }) => `<${variable}>`) }] : []
}

const tokenNote = 'Calls of agents need a token: dragoman token create makes one.'

/** Which of several targets it is, and how to get another one. */
function choiceOf([first, ...others]: readonly InstallTarget[]): string[] {
  if (!first || others.length === 0) return []
  return [`Target: ${first.target}. --target also takes ${others.map(({ target }) => target).join(', ')}.`]
}

/** The values that the server takes and that nobody has to give. */
function leftOut({ optional }: InstallTarget): string[] {
  const values = optional.map(({ part, name }) => `${name} (${part})`)
  return values.length === 0 ? [] : [`It takes these values too, which are left out: ${values.join(', ')}.`]
}

function unusable(targets: readonly InstallTarget[]): Failure {
  const reasons = targets.map(({ target, hosts: [row] }) => ({
    pointer: `/${target}`,
    detail: row?.reason ?? '',
  }))
  return new Failure('not_installable', 'The host can run none of the targets of the agent.', {
    errors: reasons,
  })
}

/** This gateway: its MCP address if DRAGOMAN_URL names it, else the process that serves the data folder. */
function ownPlan({ host: id, name = ownName, target, manage = false }: Choice, config: Config): Plan {
  if (target !== undefined) {
    throw new Failure(
      'invalid_request',
      'The gateway itself has no targets. Give the name of an agent, or no --target.',
    )
  }
  const host = hostOf(id)
  const needs = new Needs(name, registryName)
  const launch = ownLaunch(host, config, needs, manage)
  const install = hostInstall(host, { name, title: 'Dragoman', launch, needs: needs.needs })
  if (install.reason !== null) throw new Failure('not_installable', install.reason)
  const hasToken = needs.needs.length > 0 && host.sign_in === undefined
  return {
    name,
    install,
    notes: hasToken ? [tokenNote] : [],
    pieces: pieceOf(install, needs.needs),
  }
}

function ownLaunch(host: Host, config: Config, needs: Needs, manage: boolean): HostLaunch {
  const { DRAGOMAN_URL: url } = config
  if (url !== undefined) {
    const launch = gatewayLaunch(`${url}/mcp`, needs)
    if (host.kinds.includes(launch.kind)) return launch
    const [token] = needs.needs
    const env: NamedTemplate[] = token ? [{ name: token.variable, value: [token] }] : []
    return dragoman(['connect', `${url}/mcp`], env)
  }
  const env = Object.entries(locationOf(config)).map(([name, value]) => ({ name, value: [value] }))
  return dragoman(manage ? ['mcp', '--manage'] : ['mcp'], env)
}

/** The running Node is named, since the host's own may be too old. */
function dragoman(args: readonly string[], env: readonly NamedTemplate[]): ProcessLaunch {
  return { kind: 'stdio', command: process.execPath, args: [[command], ...args.map((text) => [text])], env }
}
