import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import { controlsProcess, isVariableName } from '../common/variable-names.ts'
import { relay } from './inside-scripts.ts'
import { startEgressProxy } from './network/egress-proxy.ts'
import { createTail, pace } from './output.ts'
import { fillBundle } from './packages/bundle-launch.ts'
import type { InstalledProgram } from './packages/ecosystem.ts'
import { nodeProgram } from './programs.ts'
import type { PackageProcess, RunLimits, RunnerEvent, RunnerOptions, RunRequest } from './runner.ts'
import { type Images, proxyVariables } from './sandbox/images.ts'
import { inside, type Sandbox, type SandboxedProcess } from './sandbox/sandbox.ts'

const maxArguments = 64 * 1024

/** What every package has in its environment. */
const environment = {
  PATH: inside.path,
  HOME: inside.home,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  NODE_USE_SYSTEM_CA: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  NO_UPDATE_NOTIFIER: '1',
}

interface Installed {
  readonly name: string
  readonly folder: string
  readonly program: InstalledProgram
}

interface Sandboxes {
  readonly sandbox: Sandbox
  readonly images: () => Promise<Images>
}

/** Starts an installed package in its sandbox, with its own HOME and, if it may reach hosts, a proxy of its own. */
export async function startPackage(
  sandboxes: Sandboxes,
  { folder, limits, dial, onEvent }: RunnerOptions,
  request: RunRequest,
  installed: Installed,
): Promise<PackageProcess> {
  const home = join(homesIn(folder), request.home)
  // bubblewrap enters it without the rights of root; the folder above it is private.
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  const { name } = installed
  await using resources = new AsyncDisposableStack()
  let egress: string | undefined
  if (request.hosts.length > 0) {
    const own = await mkdtemp(join(tmpdir(), 'dragoman-egress-'))
    resources.defer(() => rm(own, { recursive: true, force: true }))
    const onRefused = (host: string) => onEvent({ type: 'refused_host', package: name, host })
    egress = resources.use(
      await startEgressProxy({ socket: join(own, 'socket'), hosts: request.hosts, dial, onRefused }),
    ).socket
  }
  const child = await startIn(sandboxes, request, installed, { home, limits, egress })
  onEvent({ type: 'started', package: name, pid: child.pid })
  const held = resources.move()
  return packageProcess(child, request, limits, async (exit) => {
    await held[Symbol.asyncDispose]().catch(() => {})
    onEvent({ type: 'ended', package: name, pid: child.pid, exit })
  })
}

/** Starts the program of an image, or of an installation in the sandbox of packages. */
async function startIn(
  { sandbox, images }: Sandboxes,
  request: RunRequest,
  { program, folder }: Installed,
  place: { readonly home: string; readonly limits: RunLimits; readonly egress: string | undefined },
): Promise<SandboxedProcess> {
  const { home, limits, egress } = place
  const common = { home, limits, identity: request.home, ...(egress !== undefined && { egress }) }
  if (program.image !== undefined) {
    const proxies = egress === undefined ? {} : proxyVariables()
    const env = { ...request.env, ...proxies, HOME: inside.home, TMPDIR: '/tmp' }
    return await (await images()).start({ ...common, image: program.image, args: request.args, env })
  }
  const { args, env } = program.bundle === undefined ? request : fillBundle(program.bundle, request)
  return await sandbox.start({
    ...common,
    command: [
      ...(egress === undefined ? [] : [...nodeProgram.command, relay.path, inside.egress]),
      ...program.command,
      ...args,
    ],
    env: { ...env, ...environment },
    package: { folder, writable: false },
    reads: { ...nodeProgram.reads, ...program.reads, ...(egress !== undefined && relay.reads) },
  })
}

function packageProcess(
  child: SandboxedProcess,
  { env }: RunRequest,
  limits: RunLimits,
  onEnd: (exit: Extract<RunnerEvent, { type: 'ended' }>['exit']) => Promise<void>,
): PackageProcess {
  const tail = createTail(env)
  child.stderr
    .setEncoding('utf8')
    .on('data', (chunk: string) => tail.add(chunk))
    .on('error', () => {})
  const exited = child.exited.then(async ({ code, signal, ending }) => {
    const exit = { code, signal, reason: ending ?? ('exited' as const) }
    await onEnd(exit)
    return exit
  })
  const stdout = pace(limits.output_bytes_per_s)
  child.stdout.on('error', () => stdout.end())
  return {
    stdin: child.stdin,
    stdout: child.stdout.pipe(stdout),
    exited,
    stderrTail: () => tail.read(),
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await exited
    },
  }
}

/** The folder of the HOMEs of packages, one for each approval. */
export function homesIn(folder: string): string {
  return join(folder, 'homes')
}

/** Throws Failure `invalid_request` for arguments and variables that no package may be given. */
export function checkRequest({ home, args, env }: RunRequest): void {
  if (!/^[a-z0-9-]{1,64}$/.test(home))
    throw new Failure('invalid_request', 'This is not the id of an approval.')
  if (args.some((arg) => arg.includes('\0')) || args.join('').length > maxArguments) {
    throw new Failure('invalid_request', 'The arguments are longer than 64 KiB or contain a null character.')
  }
  for (const [name, value] of Object.entries(env)) {
    if (!isVariableName(name)) throw new Failure('invalid_request', 'This is not the name of a variable.')
    if (controlsProcess(name)) {
      throw new Failure('invalid_request', `The variable ${name} decides what else the package runs.`)
    }
    if (value.includes('\0') || value.length > maxArguments) {
      throw new Failure(
        'invalid_request',
        `The value of ${name} is longer than 64 KiB or contains a null character.`,
      )
    }
  }
}
