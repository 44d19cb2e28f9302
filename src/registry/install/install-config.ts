import { Failure } from '../../../schemas/failure.ts'
import type {
  HostId,
  HostInstall,
  InstallConfig,
  InstallNeed,
  InstallTarget,
  RefusedTarget,
} from '../../../schemas/install.ts'
import { jsonBytes } from '../../common/json.ts'
import { promptsOf } from './host-lines.ts'
import type { Install } from './host-links.ts'
import { type Host, hosts } from './hosts.ts'
import type { HostLaunch } from './launch.ts'
import { askPublisher, refuse } from './refuse.ts'
import { type Server, wholeValues } from './server-forms.ts'
import { serverNameOf } from './server-name.ts'
import { startLine } from './shell.ts'
import { type Installed, type Surroundings, type Target, targetsOf } from './targets.ts'
import { Needs, oneLine } from './template.ts'
import { tomlTable, yamlMember } from './texts.ts'

export interface InstallQuery {
  readonly host?: HostId | undefined
  readonly target?: string | undefined
  /** Name of the server in the configurations, in the place of the agent's own. */
  readonly name?: string | undefined
}

/**
 * How to install an agent, for each host or for one. What must not be installed is listed with its reason. Throws
 * Failure `not_installable` if nothing can be installed, and `invalid_request` for a target that the agent lacks.
 */
export function installConfigOf(
  entry: Installed,
  surroundings: Surroundings,
  query: InstallQuery = {},
): InstallConfig {
  const name = query.name ?? serverNameOf(entry.package_name)
  const all = targetsOf(entry, surroundings)
  const chosen = query.target === undefined ? all : all.filter(({ id }) => id === query.target)
  if (all.length > 0 && chosen.length === 0) throw unknownTarget(query.target ?? '', all)
  const targets: InstallTarget[] = []
  const refused: RefusedTarget[] = []
  let left = maxAnswerBytes
  for (const target of chosen) {
    try {
      if (left <= 0) throw tooMuch()
      const found = installTarget(entry, name, target, query.host)
      left -= jsonBytes(found)
      if (left <= 0) throw tooMuch()
      targets.push(found)
    } catch (thrown) {
      refused.push(refusedTarget(target, thrown))
    }
  }
  if (targets.length === 0) throw nothing(entry, refused)
  return { package_name: entry.package_name, name, targets, refused }
}

/** Three quarters of the longest answer of a transport. */
const maxAnswerBytes = 768 * 1024
/** Longer commands and links fail on the systems that take them. */
const maxLaunchBytes = 16 * 1024

function tooMuch(): Failure {
  return refuse('', 'The answer would be too large with it.', 'Ask for this target alone, and for one host.')
}

function installTarget(
  entry: Installed,
  name: string,
  target: Target,
  host: HostId | undefined,
): InstallTarget {
  const collected = new Needs(name, entry.package_name)
  const { launch, notes } = target.launch(collected)
  const { needs, optional } = collected
  if (jsonBytes(launch) > maxLaunchBytes) {
    throw refuse(
      '',
      'Its command and the values that it needs are too long for a configuration.',
      askPublisher,
    )
  }
  const install = { name, title: oneLine(entry.name), launch, needs }
  const start = launch.kind !== 'bundle' && launch.kind !== 'stdio' ? launch.start : undefined
  return {
    target: target.id,
    kind: target.kind,
    title: target.title,
    start: start ? startLine(start) : null,
    needs,
    optional,
    notes: [...notes, ...deprecation(entry)],
    hosts: hosts
      .filter(({ id }) => host === undefined || id === host)
      .map((row) => hostInstall(row, install)),
  }
}

function deprecation({ deprecated }: Installed): string[] {
  if (!deprecated) return []
  const { message, successor } = deprecated
  const reason = message === null ? '' : ` Its owner says: ${JSON.stringify(oneLine(message))}`
  const next = successor === null ? '' : ` Its successor is ${successor}.`
  return [`The agent is deprecated.${reason}${next}`]
}

/** What to paste or to run for one host. */
export function hostInstall(host: Host, whole: Install): HostInstall {
  const { id, title, files, format, key } = host
  const signsIn = host.sign_in !== undefined && 'signs_in' in whole.launch
  const install = signsIn ? withoutToken(whole) : whole
  const { launch, name } = install
  const absent = {
    host: id,
    title,
    reason: null,
    files: [...files],
    format: null,
    key: null,
    config: null,
    text: null,
    command: null,
    link: null,
    web_link: null,
    note: null,
  }
  if (!host.kinds.includes(launch.kind)) return { ...absent, reason: reasonOf(host, launch) }
  const server = host.server(install)
  const command = host.line?.(install, server) ?? null
  if (launch.kind === 'bundle') {
    return {
      ...absent,
      command,
      note: `Run the command, and open ${name}.mcpb with ${title} if the hash is right.`,
    }
  }
  const links = host.links?.(install, server)
  const prompts = host.values === 'prompt' ? promptsOf(install.needs) : {}
  return {
    ...absent,
    format,
    key,
    config: { [key]: { [name]: server }, ...prompts },
    text: textOf(host, name, server, prompts),
    command,
    link: links?.link ?? null,
    web_link: links?.web_link ?? null,
    note: signsIn ? (host.sign_in?.(name) ?? null) : noteOf(host, install),
  }
}

/** What a host needs whose user signs in. */
function withoutToken(install: Install): Install {
  const { launch } = install
  return launch.kind === 'stdio' || launch.kind === 'bundle'
    ? install
    : { ...install, launch: { ...launch, headers: [] }, needs: [] }
}

function textOf({ format, key }: Host, name: string, server: Server, prompts: object): string {
  if (format === 'toml') return tomlTable([key, name], server)
  if (format === 'yaml') return `${key}:\n${yamlMember(name, server)}`
  return `${JSON.stringify({ ...prompts, [key]: { [name]: server } }, null, 2)}\n`
}

function reasonOf({ title, otherwise }: Host, { kind }: HostLaunch): string {
  if (kind === 'bundle') return `${title} takes no bundles (.mcpb); Claude Desktop does.`
  if (otherwise !== undefined) return otherwise
  return `${title} does not speak the older transport of HTTP with SSE. The target gateway translates it, if there is one.`
}

function noteOf(host: Host, { needs, launch }: Install): string | null {
  const open = needs.filter((need) => need.default === undefined)
  if (open.length === 0) return null
  const list = (items: readonly string[]) => items.join(', ')
  if (host.values === 'prompt')
    return `${host.title} asks for ${list(open.map(({ name }) => name))} at the first start.`
  const blanks = open.filter((need) => isBlank(host, launch, need)).map(({ variable }) => `<${variable}>`)
  const taken = open.filter((need) => !isBlank(host, launch, need)).map(({ variable }) => variable)
  const whole = host.id === 'codex' ? wholeValues(launch) : []
  const sentences = [
    taken.length > 0 && `Set ${list([...new Set(taken)])} in the environment of ${host.title}.`,
    blanks.length > 0 && `Replace ${list(blanks)} by your values.`,
    ...whole.map(({ variable, value }) => `${variable} holds the whole value: ${value}.`),
  ]
  return sentences.filter(Boolean).join(' ')
}

/** True if the host's configuration holds a mark for the value, which the user replaces. */
function isBlank(host: Host, launch: HostLaunch, { variable }: InstallNeed): boolean {
  if (host.values === 'blank') return true
  const server = host.server({ name: 'x', title: '', launch, needs: [] })
  return JSON.stringify(server).includes(`<${variable}>`)
}

function refusedTarget({ id, kind, title }: Target, thrown: unknown): RefusedTarget {
  if (!(thrown instanceof Failure) || thrown.code !== 'not_installable') throw thrown
  const [error] = thrown.details.errors ?? []
  return {
    target: id,
    kind,
    title,
    code: thrown.code,
    pointer: error?.pointer ?? '',
    reason: error?.detail ?? thrown.message,
    hint: thrown.details.hint ?? null,
  }
}

function unknownTarget(target: string, targets: readonly Target[]): Failure {
  const shown = JSON.stringify(target.slice(0, 40))
  const detail = `The agent has no target ${shown}. It has: ${targets.map(({ id }) => id).join(', ')}.`
  return new Failure('not_found', detail)
}

function nothing({ package_name }: Installed, refused: readonly RefusedTarget[]): Failure {
  if (refused.length === 0) {
    return new Failure('not_installable', `${package_name} states no MCP endpoint and no package.`, {
      hint: 'Its card may say how to use it: resolve_package shows it.',
    })
  }
  const errors = refused.map(({ pointer, reason }) => ({ pointer, detail: reason }))
  const hint = refused.find((target) => target.hint !== null)?.hint
  return new Failure('not_installable', `${package_name} must not be installed as it is stated.`, {
    errors,
    ...(hint && { hint }),
  })
}
