import type { InstallNeed } from '../../../schemas/install.ts'
import type { BundleInstall, HostLaunch, HttpLaunch, ProcessLaunch } from './launch.ts'
import { firstVariable, isBearer, type PlaceOf, type Server, written } from './server-forms.ts'
import { lineOf } from './shell.ts'
import { literalOf, write } from './template.ts'

/** `code --add-mcp`, which takes the server and its prompts as JSON. */
export function vscodeLine(
  program: string,
  { name, needs }: { readonly name: string; readonly needs: readonly InstallNeed[] },
  server: Server,
): string {
  return lineOf([program, '--add-mcp', JSON.stringify({ name, ...server, ...promptsOf(needs) })])
}

/** The prompts of VS Code. */
export function promptsOf(needs: readonly InstallNeed[]): { inputs?: Server[] } {
  if (needs.length === 0) return {}
  return {
    inputs: needs.map(({ id, name, description, secret, default: usual, choices }) => ({
      id,
      type: choices ? 'pickString' : 'promptString',
      description: description || name,
      ...(secret && !choices && { password: true }),
      ...(choices && { options: choices }),
      ...(usual !== undefined && { default: usual }),
    })),
  }
}

/** Quoted variables reach the file as they are: Claude Code puts in their values when it starts. */
export function claudeLine(name: string, launch: HostLaunch, place: PlaceOf): string | undefined {
  if (launch.kind === 'bundle') return undefined
  const scope = ['claude', 'mcp', 'add', '--scope', 'user']
  if (launch.kind === 'stdio') return processLine([...scope, name], launch, place)
  return remoteLine(scope, name, launch, place)
}

/** Claude Code and Gemini CLI take a remote server in the same words. */
function remoteLine(scope: readonly string[], name: string, launch: HttpLaunch, place: PlaceOf): string {
  const transport = launch.kind === 'sse' ? 'sse' : 'http'
  const address = write(launch.url, place)
  return lineOf([...scope, '--transport', transport, name, address, ...headerOptions(launch, place)])
}

/** Like Claude Code, but the command comes before the options, and its arguments after `--`. */
export function geminiLine(name: string, launch: HostLaunch, place: PlaceOf): string | undefined {
  if (launch.kind === 'bundle') return undefined
  const scope = ['gemini', 'mcp', 'add', '--scope', 'user']
  if (launch.kind !== 'stdio') return remoteLine(scope, name, launch, place)
  const args = launch.args.map((text) => write(text, place))
  return lineOf([...scope, name, launch.command, ...variableOptions(launch, place), '--', ...args])
}

/** The line of Codex stores values, so there is none for a server that needs one, but for a bearer token. */
export function codexLine(name: string, launch: HostLaunch): string | undefined {
  const none: PlaceOf = () => ''
  if (launch.kind === 'stdio') {
    const texts = [...launch.args, ...launch.env.map(({ value }) => value)]
    if (texts.some((text) => literalOf(text) === undefined)) return undefined
    return processLine(['codex', 'mcp', 'add', name], launch, none)
  }
  if (launch.kind !== 'streamable-http') return undefined
  const [header, ...more] = launch.headers
  if (more.length > 0 || (header && !isBearer(header)) || literalOf(launch.url) === undefined)
    return undefined
  const bearer = header ? ['--bearer-token-env-var', firstVariable(header.value)] : []
  return lineOf(['codex', 'mcp', 'add', name, '--url', write(launch.url, none), ...bearer])
}

/** Downloads a bundle and checks its hash. */
export function downloadLine(name: string, { url, sha256 }: BundleInstall): string {
  const file = `${name}.mcpb`
  return `${lineOf(['curl', '-fsSLo', file, url])} && echo ${lineOf([`${sha256}  ${file}`])} | sha256sum -c -`
}

function processLine(head: readonly string[], launch: ProcessLaunch, place: PlaceOf): string {
  const args = launch.args.map((text) => write(text, place))
  return lineOf([...head, ...variableOptions(launch, place), '--', launch.command, ...args])
}

function variableOptions({ env }: ProcessLaunch, place: PlaceOf): string[] {
  return Object.entries(written(env, place)).flatMap(([name, value]) => ['--env', `${name}=${value}`])
}

function headerOptions({ headers }: HttpLaunch, place: PlaceOf): string[] {
  return Object.entries(written(headers, place)).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
}
