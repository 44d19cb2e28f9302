import type { InstallNeed } from '../../../schemas/install.ts'
import type { HostLaunch, HttpLaunch, NamedTemplate, ProcessLaunch } from './launch.ts'
import { literalOf, type Template, write } from './template.ts'

/** How a host's configuration writes a value of the user. */
export type PlaceOf = (need: InstallNeed) => string

/** A server as a member of a host's configuration. */
export type Server = Readonly<Record<string, unknown>>

/** Values of the environment: `mark` of the variable, or the default if the value has one. */
export function variables(mark: (variable: string) => string): PlaceOf {
  return (need) => need.default ?? mark(need.variable)
}

/** For hosts that put nothing in: the user replaces the mark. */
export const blank = variables((variable) => `<${variable}>`)

/** A server whose address is in `url` and whose transport is in `type`. */
export function typedServer(launch: HostLaunch, place: PlaceOf): Server {
  if (launch.kind === 'bundle') return {}
  if (launch.kind === 'stdio') return { type: 'stdio', ...processMembers(launch, place) }
  return { type: launch.kind === 'sse' ? 'sse' : 'http', ...httpMembers(launch, place) }
}

/** A server whose members tell by themselves how to reach it. */
export function untypedServer(launch: HostLaunch, place: PlaceOf): Server {
  if (launch.kind === 'bundle') return {}
  return launch.kind === 'stdio' ? processMembers(launch, place) : httpMembers(launch, place)
}

function httpMembers({ url, headers }: HttpLaunch, place: PlaceOf): Server {
  return {
    url: write(url, place),
    ...(headers.length > 0 && { headers: written(headers, place) }),
  }
}

function processMembers({ command, args, env }: ProcessLaunch, place: PlaceOf): Server {
  return {
    command,
    args: args.map((text) => write(text, place)),
    ...(env.length > 0 && { env: written(env, place) }),
  }
}

/** Named texts as an object. */
export function written(named: readonly NamedTemplate[], place: PlaceOf): Record<string, string> {
  return Object.fromEntries(named.map(({ name, value }) => [name, write(value, place)]))
}

/** Codex: it forwards variables by name, and puts nothing into texts. */
export function codexServer(launch: HostLaunch): Server {
  if (launch.kind === 'bundle') return {}
  if (launch.kind === 'stdio') {
    const { fixed, open } = split(launch.env)
    return {
      command: launch.command,
      args: launch.args.map((text) => write(text, blank)),
      ...(fixed.length > 0 && { env: written(fixed, blank) }),
      ...(open.length > 0 && { env_vars: open.map(({ name }) => name) }),
    }
  }
  const { fixed, open } = split(launch.headers)
  const [bearer] = open.filter(isBearer)
  const rest = open.filter((header) => header !== bearer)
  return {
    url: write(launch.url, blank),
    ...(bearer && { bearer_token_env_var: firstVariable(bearer.value) }),
    ...(fixed.length > 0 && { http_headers: written(fixed, blank) }),
    ...(rest.length > 0 && {
      env_http_headers: Object.fromEntries(rest.map(({ name, value }) => [name, firstVariable(value)])),
    }),
  }
}

/** Headers and variables that are made of a text and a value, of which Codex takes the whole from the environment. */
export function wholeValues(launch: HostLaunch): { readonly variable: string; readonly value: string }[] {
  if (launch.kind === 'bundle') return []
  const { open } = split(launch.kind === 'stdio' ? launch.env : launch.headers)
  return open
    .filter((entry) => entry.value.length > 1 && !(launch.kind !== 'stdio' && isBearer(entry)))
    .map(({ name, value }) => ({
      variable: launch.kind === 'stdio' ? name : firstVariable(value),
      value: write(value, blank),
    }))
}

/** True for `Authorization: Bearer` and one value of the user. */
export function isBearer({ name, value }: NamedTemplate): boolean {
  return name.toLowerCase() === 'authorization' && value.length === 2 && value[0] === 'Bearer '
}

export function firstVariable(template: Template): string {
  return template.find((piece) => typeof piece === 'object')?.variable ?? ''
}

function split(named: readonly NamedTemplate[]): { fixed: NamedTemplate[]; open: NamedTemplate[] } {
  const isFixed = ({ value }: NamedTemplate) => literalOf(value) !== undefined
  return { fixed: named.filter(isFixed), open: named.filter((entry) => !isFixed(entry)) }
}

/** Goose: `env_keys` are taken from its secret store or the environment, and put into headers. */
export function gooseServer(launch: HostLaunch, name: string, title: string): Server {
  const head = { enabled: true, name, description: title, timeout: 300 }
  if (launch.kind === 'bundle') return {}
  if (launch.kind !== 'stdio') {
    const keys = launch.headers.flatMap(({ value }) => value.filter((piece) => typeof piece === 'object'))
    return {
      ...head,
      type: launch.kind === 'sse' ? 'sse' : 'streamable_http',
      uri: write(launch.url, blank),
      headers: written(launch.headers, ({ variable }) => `\${${variable}}`),
      envs: {},
      env_keys: [...new Set(keys.map(({ variable }) => variable))],
    }
  }
  const isKey = ({ name, value }: NamedTemplate) => value.length === 1 && firstVariable(value) === name
  return {
    ...head,
    type: 'stdio',
    cmd: launch.command,
    args: launch.args.map((text) => write(text, blank)),
    envs: written(
      launch.env.filter((entry) => !isKey(entry)),
      blank,
    ),
    env_keys: launch.env.filter(isKey).map((entry) => entry.name),
  }
}
