import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { RunLimits, SandboxReport } from '../runner.ts'
import type { ControlGroups } from './control-groups.ts'
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
import { inside, type Sandbox, type SandboxCommand, startFolder } from './sandbox.ts'
import { resourceLimits, spawnSandboxed } from './spawn.ts'

const execute = promisify(execFile)

/** How bubblewrap can be used by this user. */
interface Mode {
  readonly program: string
  /** Started by root, commands have user ids of their own: root's own id would read root's files. */
  readonly asRoot: boolean
  readonly namespaces: readonly string[]
  /** Programs in the sandbox that give up rights and set limits before they become the command. */
  readonly drop: (uid: number) => readonly string[]
}

const namespaces = ['pid', 'ipc', 'net', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`)
/** Finds out how bubblewrap works here; throws an Error with the reason if it does not. */
export async function openBubblewrap(path: string, groups: ControlGroups): Promise<Sandbox> {
  const program = findProgram('bwrap', path)
  if (program === undefined) throw new Error('bubblewrap (bwrap) is not installed')
  const version = (await execute(program, ['--version'])).stdout.trim().replace(/^\D*/, '')
  const mode = await firstThatWorks(modesOf(program))
  return {
    report: { kind: 'bubblewrap', version, problem: null, ...limitsOf(mode, groups) },
    start: (command) => startIn(mode, groups, command),
  }
}

function modesOf(program: string): Mode[] {
  if (process.getuid?.() !== 0) {
    const own = [...namespaces, '--unshare-user', '--cap-drop', 'ALL']
    const drop = () => []
    return [
      { program, asRoot: false, namespaces: [...own, '--disable-userns'], drop },
      { program, asRoot: false, namespaces: own, drop },
    ]
  }
  const capabilities = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((name) => ['--cap-add', name])
  const become = (uid: number) =>
    `setpriv --reuid=${uid} --regid=${uid} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs`.split(
      ' ',
    )
  const asRoot = { program, asRoot: true, namespaces: [...namespaces, '--cap-drop', 'ALL', ...capabilities] }
  return [
    { ...asRoot, drop: (uid) => [...become(uid), 'unshare', '--user', '--map-current-user', '--'] },
    { ...asRoot, drop: become },
  ]
}

async function firstThatWorks(modes: readonly Mode[]): Promise<Mode> {
  let problem = ''
  for (const mode of modes) {
    const trial = [
      ...systemFolders().flatMap((path) => ['--ro-bind', path, path]),
      ...linkWords(),
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--',
      ...mode.drop(userIdOf('')),
      'prlimit',
      '--core=0:0',
      'true',
    ]
    try {
      await execute(mode.program, [...mode.namespaces, ...trial], {
        env: { PATH: inside.path },
        timeout: 10_000,
      })
      return mode
    } catch (thrown) {
      problem = (thrown as { stderr?: string }).stderr?.trim().split('\n')[0] || String(thrown)
    }
  }
  throw new Error(`bubblewrap does not work here: ${problem}`)
}

async function startIn({ program, namespaces, drop }: Mode, groups: ControlGroups, command: SandboxCommand) {
  const uid = userIdOf(command.identity)
  await using resources = new AsyncDisposableStack()
  const own = await mkdtemp(join(tmpdir(), 'dragoman-run-'))
  resources.defer(() => rm(own, { recursive: true, force: true }))
  const mounts = [...mountsOf(command), ...(await writeOwnFiles(own, uid))]
  await handOver(command, uid)
  const options = [
    ...namespaces,
    ...['--die-with-parent', '--new-session', '--hostname', 'package', '--clearenv'],
    ...parentFolders(mounts),
    ...linkWords(),
    ...ownFileSystems(command.limits),
    ...mounts.flatMap(({ from, to, writable }) => [writable ? '--bind' : '--ro-bind', from, to]),
    ...['--remount-ro', '/', '--chdir', startFolder(command)],
    ...Object.entries(command.env).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
  const controlled = groups.controllers
  const group = controlled.length > 0 ? resources.use(groups.create(command.limits)) : undefined
  const started = await spawnSandboxed({
    // By a file descriptor: the arguments of a process are public on the host and, as process 1, in the sandbox.
    command: [
      program,
      '--args',
      '3',
      '--',
      ...drop(uid),
      ...resourceLimits(command.limits),
      ...command.command,
    ],
    input: options.map((option) => `${option}\0`).join(''),
    // The environment of process 1 is readable in the sandbox.
    env: { PATH: inside.path },
    cwd: '/',
    ...(group && { group }),
    watch: {
      folders: watchedFolders(command),
      disk_bytes: command.limits.disk_bytes,
      ...(!controlled.includes('memory') && { memory_bytes: command.limits.memory_bytes }),
    },
    release: async () => await held[Symbol.asyncDispose](),
  })
  const held = resources.move()
  return started
}

function linkWords(): string[] {
  return systemLinks().flatMap(({ path, target }) => ['--symlink', target, path])
}

function ownFileSystems({ disk_bytes }: RunLimits): string[] {
  const sized = (folder: string) => ['--perms', '1777', '--size', String(disk_bytes), '--tmpfs', folder]
  return [
    ...['--proc', '/proc', '--dev', '/dev', '--symlink', '/tmp', '/var/tmp'],
    ...sized('/dev/shm'),
    ...sized('/tmp'),
  ]
}

/** bubblewrap makes missing parents for their owner alone. */
function parentFolders(mounts: readonly BindMount[]): string[] {
  const parents = new Set<string>()
  const add = (folder: string) => {
    if (folder === '/') return
    add(dirname(folder))
    parents.add(folder)
  }
  for (const { to } of mounts) add(dirname(to))
  add('/var')
  // What is mounted brings its own folders.
  const mounted = systemFolders()
  const missing = [...parents].filter(
    (folder) => !mounted.some((path) => `${folder}/`.startsWith(`${path}/`)),
  )
  return missing.flatMap((folder) => ['--perms', '0755', '--dir', folder])
}

function limitsOf(
  { asRoot }: Mode,
  { controllers }: ControlGroups,
): Pick<SandboxReport, 'limited' | 'not_limited'> {
  const has = (name: (typeof controllers)[number]) => controllers.includes(name)
  return {
    limited: [
      'Namespaces of its own for users, files, processes, network, IPC and the host name.',
      `Files: read-only, the system folders that programs need (${systemFolders().join(', ')}) and the installed package; writable, its own HOME and temporary folder.`,
      'Network: none but its own loopback; hosts that were granted, through the egress proxy of the gateway.',
      'Rights: no capabilities, no setuid programs, an environment of its own.',
      asRoot ? 'User: an id of its own that owns nothing else.' : '',
      has('memory')
        ? 'Memory: by a control group.'
        : 'Memory: looked at each second; the package is ended above the limit.',
      has('pids')
        ? 'Processes and threads: by a control group.'
        : 'Processes and threads: by a resource limit.',
      has('cpu') ? 'Processors: by a control group.' : '',
      'Temporary folder and shared memory: by the size of their file systems.',
      'HOME: looked at each second; the package is ended above the limit. A file: by a resource limit.',
      'Open files: by a resource limit. Output: by its rate.',
      'It ends with all of its processes when it is stopped, and when the gateway ends.',
    ].filter((line) => line !== ''),
    not_limited: [
      'The kernel is shared: a fault in the kernel opens the sandbox.',
      asRoot ? '' : 'User: it runs with the id of the gateway, in a user namespace of its own.',
      has('memory') && has('cpu')
        ? ''
        : `${[has('memory') ? '' : 'Memory may rise above the limit for a second', has('cpu') ? '' : 'The share of processors is not limited'].filter((part) => part !== '').join('. ')}.`,
      'HOME may rise above the limit for a second.',
      'System folders show which programs and versions the host has.',
    ].filter((line) => line !== ''),
  }
}
