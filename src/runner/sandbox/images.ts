import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { relay, relayPort } from '../inside-scripts.ts'
import { nodeProgram } from '../programs.ts'
import type { SandboxReport } from '../runner.ts'
import {
  type ContainerEngine,
  fixedOptions,
  limitOptions,
  mountWords,
  newName,
  removeContainer,
  run,
  startContainer,
} from './container.ts'
import { type BindMount, handOver, userIdOf, writeOwnFiles } from './host-files.ts'
import { inside, type SandboxCommand, type SandboxedProcess } from './sandbox.ts'
import { spawnSandboxed } from './spawn.ts'

/** An image in the storage of the engine. */
export interface Image {
  /** `sha256:…` of its configuration, which names all of its layers by digests. */
  readonly id: string
  /** `sha256:…` of its manifest, by which registries know it; that of `id` where the engine knows none. */
  readonly digest: string
  readonly bytes: number
  readonly created_at: string | null
  /** Folders that it wants to write to. */
  readonly volumes: readonly string[]
}

/** A start of the program of an image. */
interface ImageCommand extends Pick<SandboxCommand, 'env' | 'home' | 'identity' | 'egress' | 'limits'> {
  readonly image: string
  readonly args: readonly string[]
}

export interface Images {
  readonly report: SandboxReport
  /** Throws Failure `not_found` and `upstream_failed`. */
  pull(reference: string, signal: AbortSignal): Promise<Image>
  /** undefined: it is not in the storage. */
  inspect(reference: string): Promise<Image | undefined>
  start(command: ImageCommand): Promise<SandboxedProcess>
}

const pull_ms = 10 * 60_000
const relayStart_ms = 30_000

const Inspected = z.array(
  z.object({
    Id: z.string().regex(/^(?:sha256:)?[0-9a-f]{64}$/),
    Digest: z.string().optional(),
    RepoDigests: z.array(z.string()).nullish(),
    Size: z.number().default(0),
    Created: z.string().nullish(),
    Config: z.object({ Volumes: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  }),
)

/** Images by an engine for containers. */
export function imagesOf(engine: ContainerEngine): Images {
  const inspect = (reference: string) => inspectIn(engine, reference)
  return {
    report: {
      kind: engine.name,
      version: engine.version,
      problem: null,
      limited: [
        'Namespaces of its own for files, processes, network, IPC and the host name.',
        'Files: read-only, those of the image; writable, its own HOME, a temporary folder and the folders that the image wants to write to, which stay as HOME does.',
        'Network: none but its own loopback; hosts that were granted, through the egress proxy of the gateway.',
        'Rights: no capabilities, no setuid programs, the system calls that the engine allows.',
        'User: an id of its own that owns nothing else, whatever the image states.',
        'Memory, processes, threads and processors: by a control group.',
        'Temporary folder and shared memory: by the size of their file systems. Open files and a file: by resource limits.',
        'HOME and the folders that the image wants to write to: looked at each second; the package is ended above the limit. Output: by its rate.',
        'It ends with all of its processes when it is stopped.',
      ],
      not_limited: [
        'The kernel is shared: a fault in the kernel opens the sandbox.',
        'Folders may rise above the limit for a second.',
        `${engine.name} keeps the image, whatever its size, and the variables of a container, secrets included, until the container ends.`,
        'It ends when its standard input closes only if it listens to that: one may outlive a gateway that was killed.',
      ],
    },
    inspect,
    async pull(reference, signal) {
      try {
        await run(engine, ['pull', '--quiet', reference], { timeout: pull_ms, signal })
      } catch (thrown) {
        signal.throwIfAborted()
        throw pullFailure(reference, (thrown as { stderr?: string }).stderr ?? String(thrown))
      }
      const image = await inspect(reference)
      if (image) return image
      throw new Failure(
        'upstream_failed',
        `${engine.name} does not find ${reference} after it has fetched it.`,
      )
    },
    start: (command) => startImage(engine, inspect, command),
  }
}

async function inspectIn(engine: ContainerEngine, reference: string): Promise<Image | undefined> {
  const text = await run(engine, ['image', 'inspect', reference]).catch(() => undefined)
  const [found] = text === undefined ? [] : (Inspected.safeParse(JSON.parse(text)).data ?? [])
  if (!found) return undefined
  const id = `sha256:${found.Id.replace(/^sha256:/, '')}`
  const stated = found.Digest || found.RepoDigests?.[0]?.split('@')[1]
  return {
    id,
    digest: stated !== undefined && /^sha256:[0-9a-f]{64}$/.test(stated) ? stated : id,
    bytes: found.Size,
    created_at: found.Created ?? null,
    volumes: Object.keys(found.Config?.Volumes ?? {}),
  }
}

function pullFailure(reference: string, stderr: string): Failure {
  const reason = stderr.trim().split('\n').at(-1)?.slice(-500) ?? ''
  const isMissing = /manifest unknown|not found|name unknown|does not exist|repository .*denied/i.test(reason)
  if (isMissing) return new Failure('not_found', `There is no image ${reference}: ${reason}`)
  return new Failure('upstream_failed', `The image ${reference} cannot be fetched: ${reason}`)
}

async function startImage(
  engine: ContainerEngine,
  inspect: Images['inspect'],
  command: ImageCommand,
): Promise<SandboxedProcess> {
  const image = await inspect(command.image)
  if (!image) throw new Failure('wrong_state', 'The image is not in the storage any more.')
  const uid = userIdOf(command.identity)
  await using resources = new AsyncDisposableStack()
  const own = await mkdtemp(join(tmpdir(), 'dragoman-run-'))
  resources.defer(() => rm(own, { recursive: true, force: true }))
  const hosts = (await writeOwnFiles(own, uid)).filter(({ to }) => to === '/etc/hosts')
  await handOver({ home: command.home, package: { folder: command.home, writable: false } }, uid)
  const volumes = await volumesOf(image, command.home, uid)
  const variables = join(own, 'variables')
  await writeFile(variables, environmentFile(command.env), { mode: 0o600 })
  const relayName =
    command.egress === undefined ? undefined : await startRelay(engine, command, own, resources)
  const name = newName()
  resources.defer(() => removeContainer(engine, name))
  const network =
    relayName === undefined ? ['--network=none', '--hostname=package'] : [`--network=container:${relayName}`]
  const started = await spawnSandboxed({
    command: [
      ...[engine.program, ...engine.options, 'run', `--name=${name}`, ...network, ...fixedOptions],
      ...limitOptions(command.limits),
      ...(engine.name === 'podman' ? ['--image-volume=ignore'] : []),
      ...[`--user=${uid}:${uid}`, ...engine.userOptions, '--no-healthcheck', `--env-file=${variables}`],
      ...mountWords([{ from: command.home, to: inside.home, writable: true }, ...volumes, ...hosts]),
      ...[image.id, ...command.args],
    ],
    env: engine.env,
    cwd: '/',
    watch: {
      folders: [command.home, ...volumes.map(({ from }) => from)],
      disk_bytes: command.limits.disk_bytes,
    },
    ranOutOfMemory: (code) => code === 137,
    release: async () => await held[Symbol.asyncDispose](),
  })
  const held = resources.move()
  return started
}

/** The folders that the image wants to write to: beside HOME, which the program could fill with links. */
async function volumesOf({ volumes }: Image, home: string, uid: number): Promise<BindMount[]> {
  const paths = volumes.filter((path) => /^\/[\w./-]+$/.test(path) && path !== '/tmp' && path !== inside.home)
  return await Promise.all(
    paths.map(async (path) => {
      const folder = join(`${home}.volumes`, encodeURIComponent(path))
      await mkdir(folder, { recursive: true })
      await handOver({ home: folder, package: { folder, writable: false } }, uid)
      return { from: folder, to: path, writable: true }
    }),
  )
}

/** Engines read a line of this file as it is. */
function environmentFile(env: Readonly<Record<string, string>>): string {
  for (const [name, value] of Object.entries(env)) {
    if (!/[\r\n]/.test(value)) continue
    throw new Failure(
      'invalid_request',
      `The value of ${name} has a line break, which no image can be given.`,
    )
  }
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** A container whose network the image shares: it has loopback alone, where the relay gives it the egress proxy. */
async function startRelay(
  engine: ContainerEngine,
  { home, identity, egress = '', limits }: ImageCommand,
  own: string,
  resources: AsyncDisposableStack,
): Promise<string> {
  const name = newName()
  const [folder, relayHome] = ['package', 'home'].map((part) => join(own, part)) as [string, string]
  await mkdir(folder)
  await mkdir(relayHome)
  const child = await startContainer(
    engine,
    {
      command: [...nodeProgram.command, relay.path, inside.egress],
      env: {},
      package: { folder, writable: false },
      home: relayHome,
      identity: `relay of ${identity} ${home}`,
      reads: { ...nodeProgram.reads, ...relay.reads },
      egress,
      limits: { ...limits, memory_bytes: 256 * 1024 ** 2 },
    },
    name,
  )
  resources.use(child)
  child.stderr.resume()
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(relayStart_ms) }).catch(() => {
    throw new Failure('internal', 'The relay of the egress proxy did not start.')
  })
  child.stdout.resume()
  return name
}

/** What programs are told of the egress proxy. */
export function proxyVariables(): Record<string, string> {
  const url = `http://127.0.0.1:${relayPort}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
  return { ...Object.fromEntries(names.map((name) => [name, url])), NODE_USE_ENV_PROXY: '1' }
}
