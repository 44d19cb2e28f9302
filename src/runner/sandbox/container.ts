import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { retryFor } from '../../common/retry.ts'
import type { RunLimits } from '../runner.ts'
import { findProgram } from './find-program.ts'
import {
  type BindMount,
  handOver,
  mountsOf,
  systemFolders,
  systemLinks,
  userIdOf,
  watchedFolders,
  writeOwnFiles,
} from './host-files.ts'
import { type Sandbox, type SandboxCommand, startFolder } from './sandbox.ts'
import { spawnSandboxed } from './spawn.ts'

const execute = promisify(execFile)

/** How an engine for containers is used by this user. */
export interface ContainerEngine {
  readonly name: 'podman' | 'docker'
  readonly version: string | null
  readonly program: string
  /** Options before `run`. */
  readonly options: readonly string[]
  readonly userOptions: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** An image without files: the system folders of the host are mounted into it, as bubblewrap does. */
const image = 'localhost/dragoman-empty:1'
const prefix = 'dragoman-'
const startInside = '/run/start'
const timeout = 60_000

/** Finds out how podman or docker works here; throws an Error with the reason if it does not. */
export async function openEngine(name: ContainerEngine['name'], path: string): Promise<ContainerEngine> {
  if (process.platform !== 'linux')
    throw new Error(`${name} is used on Linux alone: it mounts the programs of the host`)
  const program = findProgram(name, path)
  if (program === undefined) throw new Error(`${name} is not installed`)
  const version = (
    await execute(program, ['version', '--format', '{{.Client.Version}}'], { timeout }).catch(() => undefined)
  )?.stdout.trim()
  return await firstThatWorks({ name, version: version || null, program }, path)
}

/** Containers that see the system folders of the host, as bubblewrap shows them. */
export function containersOf(engine: ContainerEngine): Sandbox {
  return {
    report: {
      kind: engine.name,
      version: engine.version,
      problem: null,
      limited: [
        'Namespaces of its own for files, processes, network, IPC and the host name.',
        'Files: read-only, the system folders that programs need and the installed package; writable, its own HOME and temporary folder.',
        'Network: none but its own loopback; hosts that were granted, through the egress proxy of the gateway.',
        'Rights: no capabilities, no setuid programs, the system calls that the engine allows, an environment of its own.',
        'User: an id of its own that owns nothing else.',
        'Memory, processes, threads and processors: by a control group.',
        'Temporary folder and shared memory: by the size of their file systems. Open files and a file: by resource limits.',
        'HOME: looked at each second; the package is ended above the limit. Output: by its rate.',
        'It ends with all of its processes when it is stopped.',
      ],
      not_limited: [
        'The kernel is shared: a fault in the kernel opens the sandbox.',
        'HOME may rise above the limit for a second.',
        'System folders show which programs and versions the host has.',
        'It ends when its standard input closes only if it listens to that: one may outlive a gateway that was killed.',
      ],
    },
    start: (command) => startContainer(engine, command, newName()),
  }
}

async function firstThatWorks(
  found: Pick<ContainerEngine, 'name' | 'version' | 'program'>,
  path: string,
): Promise<ContainerEngine> {
  const { name } = found
  const tries: readonly (readonly string[])[] =
    name === 'docker'
      ? [[]]
      : [[], ['--cgroup-manager=cgroupfs'], ['--runtime=runc', '--cgroup-manager=cgroupfs']]
  const uid = process.getuid?.() ?? 0
  const env = { PATH: path, HOME: homedir(), ...(uid !== 0 && { XDG_RUNTIME_DIR: `/run/user/${uid}` }) }
  const userOptions = name === 'podman' && uid !== 0 ? ['--userns=keep-id'] : []
  let problem = ''
  for (const options of tries) {
    const engine = { ...found, options, userOptions, env }
    try {
      await importImage(engine)
      const mounts = mountWords(
        systemFolders().map((folder) => ({ from: folder, to: folder, writable: false })),
      )
      await run(engine, [
        'run',
        '--rm',
        '--network=none',
        ...fixedOptions,
        ...limitOptions(trialLimits),
        ...userOptions,
        ...mounts,
        image,
        '/usr/bin/env',
        'true',
      ])
      await removeAbandoned(engine)
      return engine
    } catch (thrown) {
      problem = (thrown as { stderr?: string }).stderr?.trim().split('\n').at(-1) || String(thrown)
    }
  }
  throw new Error(`${name} does not work here: ${problem}`)
}

const trialLimits: RunLimits = {
  memory_bytes: 256 * 1024 ** 2,
  disk_bytes: 1024 ** 2,
  processes: 32,
  processors: 1,
  open_files: 64,
  output_bytes_per_s: 0,
}

/** An engine refuses to remove a container that is just ending by itself. */
const whileItEnds = { within_ms: 4000, first_ms: 200, max_ms: 1000 }

/** Kills and removes a container, if it is there. */
export async function removeContainer(engine: ContainerEngine, name: string): Promise<void> {
  // podman would first wait ten seconds for a polite end.
  const atOnce = engine.name === 'podman' ? ['--time=0'] : []
  const isThere = (thrown: unknown) => !/no such container/i.test(String(thrown))
  await retryFor(() => run(engine, ['rm', '--force', ...atOnce, name]), isThere, whileItEnds).catch(() => {})
}

/** Removes the containers of gateways that were killed. */
async function removeAbandoned(engine: ContainerEngine): Promise<void> {
  const names = await run(engine, ['ps', '--all', '--filter', `name=^${prefix}`, '--format', '{{.Names}}'])
  for (const name of names.split('\n')) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && !existsSync(`/proc/${pid}`)) await removeContainer(engine, name)
  }
}

/** Folders and links alone: everything else is mounted. */
async function importImage(engine: ContainerEngine): Promise<void> {
  if (await run(engine, ['image', 'inspect', image]).catch(() => '')) return
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-image-'))
  try {
    const root = join(folder, 'root')
    await mkdir(root)
    for (const { path, target } of systemLinks()) await symlink(target, join(root, path))
    const archive = join(folder, 'root.tar')
    await execute('tar', ['--create', '--file', archive, '--directory', root, '.'], { env: engine.env })
    await run(engine, ['import', archive, image])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const fixedOptions = [
  '--interactive',
  '--read-only',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--security-opt=label=disable',
  '--pull=never',
]

export function limitOptions({
  memory_bytes,
  disk_bytes,
  processes,
  processors,
  open_files,
}: RunLimits): string[] {
  return [
    `--memory=${memory_bytes}`,
    `--memory-swap=${memory_bytes}`,
    `--pids-limit=${processes}`,
    `--cpus=${processors}`,
    `--ulimit=nofile=${open_files}:${open_files}`,
    `--ulimit=nproc=${processes}:${processes}`,
    `--ulimit=fsize=${disk_bytes}:${disk_bytes}`,
    '--ulimit=core=0:0',
    `--shm-size=${disk_bytes}`,
    `--tmpfs=/tmp:rw,exec,mode=1777,size=${disk_bytes}`,
  ]
}

export function newName(): string {
  return `${prefix}${process.pid}-${randomUUID()}`
}

export async function startContainer(engine: ContainerEngine, command: SandboxCommand, name: string) {
  const uid = userIdOf(command.identity)
  await using resources = new AsyncDisposableStack()
  const own = await mkdtemp(join(tmpdir(), 'dragoman-run-'))
  resources.defer(() => rm(own, { recursive: true, force: true }))
  const mounts = [...mountsOf(command), ...(await writeOwnFiles(own, uid))]
  await handOver(command, uid)
  const start = join(own, 'start')
  await writeFile(start, startScript(command.env), { mode: 0o400 })
  await chown(start, uid, uid)
  resources.defer(() => removeContainer(engine, name))
  const started = await spawnSandboxed({
    command: [
      ...[engine.program, ...engine.options, 'run', `--name=${name}`],
      ...['--network=none', '--hostname=package', ...fixedOptions],
      ...limitOptions(command.limits),
      ...[`--user=${uid}:${uid}`, ...engine.userOptions, `--workdir=${startFolder(command)}`],
      ...mountWords([...mounts, { from: start, to: startInside, writable: false }]),
      ...[image, '/usr/bin/env', '-i', '/bin/sh', startInside, ...command.command],
    ],
    env: engine.env,
    cwd: '/',
    watch: { folders: watchedFolders(command), disk_bytes: command.limits.disk_bytes },
    // The engine does not always notice; nothing else kills the first process of a container.
    ranOutOfMemory: (code) => code === 137,
    release: async () => await held[Symbol.asyncDispose](),
  })
  const held = resources.move()
  return started
}

/** Sets the environment and becomes the command. The engine, which would write it to its database, does not see it. */
function startScript(env: Readonly<Record<string, string>>): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return [...lines, 'exec "$@"', ''].join('\n')
}

export function mountWords(mounts: readonly BindMount[]): string[] {
  return mounts.map(({ from, to, writable }) => `--volume=${from}:${to}:${writable ? 'rw' : 'ro'}`)
}

export async function run(
  { program, options, env }: ContainerEngine,
  args: readonly string[],
  limits: { readonly timeout: number; readonly signal?: AbortSignal } = { timeout },
): Promise<string> {
  return (await execute(program, [...options, ...args], { env, ...limits, maxBuffer: 4 * 1024 ** 2 })).stdout
}
