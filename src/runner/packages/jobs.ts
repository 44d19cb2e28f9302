import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../../schemas/failure.ts'
import { relay } from '../inside-scripts.ts'
import { type EgressProxy, startEgressProxy } from '../network/egress-proxy.ts'
import { nodeProgram, type Program } from '../programs.ts'
import type { RunLimits } from '../runner.ts'
import { inside, type Sandbox } from '../sandbox/sandbox.ts'

/** A tool that runs in a sandbox with network to registries alone. */
interface Job {
  readonly program: Program
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Folder at `/package`, writable; its HOME is beside it. */
  readonly work: Workspace
  /** Hosts with their ports. */
  readonly hosts: readonly string[]
  readonly certificates: string | undefined
}

export interface JobResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The temporary folder of an installation. */
export interface Workspace extends AsyncDisposable {
  readonly root: string
  readonly package: string
  /** HOME of the tools, with their caches. */
  readonly home: string
}

/** Installations compile and link more than what they install needs to run. */
const limits: RunLimits = {
  memory_bytes: 3 * 1024 ** 3,
  disk_bytes: 3 * 1024 ** 3,
  processes: 512,
  processors: 2,
  open_files: 4096,
  output_bytes_per_s: 0,
}
const maxOutput = 4 * 1024 * 1024
const maxTime_ms = 10 * 60_000

/** `cache` is a HOME that installations share; those that run scripts of packages have one of their own. */
export async function openWorkspace(folder: string, cache: string | undefined): Promise<Workspace> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const root = await mkdtemp(join(folder, 'work-'))
  const work = { root, package: join(root, 'package'), home: cache ?? join(root, 'home') }
  // The sandbox enters them without the rights of root. The mode of mkdir is subject to the umask.
  for (const path of [work.package, work.home]) {
    await mkdir(path, { recursive: true })
    await chmod(path, 0o755)
  }
  return { ...work, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) }
}

/** Runs a tool to its end. Throws Failure `too_large` for memory, disk and output, `upstream_timeout` after ten minutes. */
export async function runJob(sandbox: Sandbox, job: Job, signal: AbortSignal): Promise<JobResult> {
  signal.throwIfAborted()
  await using egress = await startEgress(job.hosts)
  await using child = await sandbox.start({
    command: [...nodeProgram.command, relay.path, inside.egress, ...job.program.command, ...job.args],
    env: { ...environment(job.certificates), ...job.env },
    package: { folder: job.work.package, writable: true },
    home: job.work.home,
    identity: job.work.home,
    reads: {
      ...nodeProgram.reads,
      ...job.program.reads,
      ...relay.reads,
      ...(job.certificates !== undefined && { [certificatesInside]: job.certificates }),
    },
    egress: egress.socket,
    limits,
  })
  child.stdin.end()
  const timeout = AbortSignal.timeout(maxTime_ms)
  const end = () => void child[Symbol.asyncDispose]()
  for (const source of [signal, timeout]) source.addEventListener('abort', end, { once: true })
  // The caller may have left while it started.
  if (signal.aborted) end()
  try {
    const [stdout, stderr, exit] = await Promise.all([read(child.stdout), read(child.stderr), child.exited])
    if (signal.aborted) throw Failure.cancelled(signal)
    if (timeout.aborted)
      throw new Failure('upstream_timeout', 'The installation did not end within ten minutes.')
    if (exit.ending === 'memory' || exit.ending === 'disk') {
      throw new Failure('too_large', `The installation needs more ${exit.ending} than 3 GiB.`)
    }
    return { code: exit.code, stdout, stderr }
  } finally {
    for (const source of [signal, timeout]) source.removeEventListener('abort', end)
  }
}

const certificatesInside = '/etc/ssl/operator.pem'

function environment(certificates: string | undefined): Record<string, string> {
  const trust =
    certificates === undefined
      ? {}
      : {
          NODE_EXTRA_CA_CERTS: certificatesInside,
          SSL_CERT_FILE: certificatesInside,
          SSL_CERT_DIR: '/etc/ssl/certs',
        }
  return { PATH: inside.path, HOME: inside.home, TMPDIR: '/tmp', NODE_USE_SYSTEM_CA: '1', ...trust }
}

async function startEgress(hosts: readonly string[]): Promise<EgressProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-egress-'))
  const proxy = await startEgressProxy({
    socket: join(folder, 'socket'),
    hosts,
    // The operator's own registries may have private addresses.
    dial: async (host, port, signal) => {
      const socket = connect({ host, port })
      socket.on('error', () => socket.destroy()) // Also after the signal has ended the wait.
      await once(socket, 'connect', { signal })
      return socket
    },
    onRefused: () => {},
  })
  return {
    socket: proxy.socket,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > maxOutput)
      throw new Failure('too_large', 'The registry or the installation answered more than 4 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
