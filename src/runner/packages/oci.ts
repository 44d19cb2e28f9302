import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { PackageSource, ResolvedPackage } from '../runner.ts'
import type { Image, Images } from '../sandbox/images.ts'
import type { Ecosystem } from './ecosystem.ts'
import { readInstalledJson, writeShared } from './files.ts'

const lockFile = 'image.json'
const Lock = z.object({ name: z.string(), digest: z.string(), id: z.string() })

interface Sources {
  readonly hosts: readonly string[]
  readonly images: () => Promise<Images>
}

/** Images of registries for containers, fetched and kept by podman or docker, each started by the digest of its content. */
export function createOci({ hosts, images }: Sources): Ecosystem {
  async function imageOf(
    name: string,
    { digest, id }: Pick<z.infer<typeof Lock>, 'digest' | 'id'>,
    signal: AbortSignal,
  ) {
    const engine = await images()
    return (await engine.inspect(id)) ?? (await find(engine, `${name}@${digest}`, signal))
  }

  return {
    lockFile,
    async resolve(source, { signal }) {
      const { name, tag, digest } = parseImage(source)
      checkHost(name, hosts)
      const engine = await images()
      const reference = `${name}${digest === undefined ? `:${tag}` : `@${digest}`}`
      const image = await find(engine, reference, signal)
      if (digest !== undefined && image.digest !== digest && image.id !== digest) {
        throw new Failure('precondition_failed', `${name} was fetched with another digest than ${digest}.`)
      }
      const version = digest ?? (tag === 'latest' ? image.digest : tag)
      return {
        source: { ...source, version },
        integrity: integrityOf(image),
        published_at: image.created_at,
        warning: null,
      }
    },
    async lock({ source, integrity }, _before, { work }) {
      const { name } = parseImage(source)
      const engine = await images()
      const digest = `sha256:${Buffer.from(integrity.slice('sha256-'.length), 'base64').toString('hex')}`
      const image = (await engine.inspect(`${name}@${digest}`)) ?? (await engine.inspect(digest))
      if (image === undefined || integrityOf(image) !== integrity) {
        throw new Failure('precondition_failed', `The image ${name} is not the one that was looked at.`, {
          hint: 'Look at it again and approve what the registry has now.',
        })
      }
      await writeShared(join(work.package, lockFile), JSON.stringify({ name, digest, id: image.id }))
      return { dependencies: 0 }
    },
    async install(_resolved: ResolvedPackage, { work, registry }) {
      const lock = await readLock(work.package)
      const image = await imageOf(lock.name, lock, registry.signal)
      if (image.id !== lock.id) {
        throw new Failure(
          'precondition_failed',
          `The image ${lock.name} has another content than the approved one.`,
        )
      }
    },
    async program(_resolved, folder) {
      return { command: [], reads: {}, image: (await readLock(folder)).id }
    },
    async isPresent({ image = '' }) {
      return (await (await images()).inspect(image)) !== undefined
    },
  }
}

/** An image of `localhost` is of this machine alone: no registry has it. */
async function find(engine: Images, reference: string, signal: AbortSignal): Promise<Image> {
  if (!reference.startsWith('localhost/')) return await engine.pull(reference, signal)
  const own = await engine.inspect(reference)
  if (own) return own
  throw new Failure('not_found', `There is no image ${reference} on this machine.`)
}

async function readLock(folder: string): Promise<z.infer<typeof Lock>> {
  return Lock.parse(await readInstalledJson(folder, lockFile, 64 * 1024))
}

function integrityOf({ digest }: Image): string {
  return `sha256-${Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64')}`
}

const part = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*'
const grammar = new RegExp(
  `^(?:((?:[a-z0-9-]+\\.)*[a-z0-9-]+(?::\\d{1,5})?)/)?(${part}(?:/${part})*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
)
const dockerHub = /^(?:index\.|registry-1\.)?docker\.io$/

/** The whole name of an image with its host, and its tag or digest. */
function parseImage({ identifier, version }: PackageSource): {
  readonly name: string
  readonly tag: string
  readonly digest: string | undefined
} {
  const [, first, rest = '', stated, ownDigest] = grammar.exec(identifier) ?? []
  if (rest === '' || identifier.length > 300) {
    throw new Failure('invalid_request', 'This is not the name of an image.')
  }
  const isHost = first !== undefined && /[.:]|^localhost$/.test(first)
  const host = isHost && !dockerHub.test(first) ? first : 'docker.io'
  const path = isHost || first === undefined ? rest : `${first}/${rest}`
  const isOfficial = host === 'docker.io' && !path.includes('/')
  const digest = ownDigest ?? (/^sha256:[0-9a-f]{64}$/.test(version) ? version : undefined)
  const tag = stated ?? version
  if (digest === undefined && !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(tag)) {
    throw new Failure('invalid_request', 'This is not the tag of an image.')
  }
  return { name: `${host}/${isOfficial ? 'library/' : ''}${path}`, tag, digest }
}

function checkHost(name: string, hosts: readonly string[]): void {
  const [host = ''] = name.split('/')
  if (hosts.includes(host)) return
  throw new Failure('not_installable', `${host} is not a registry from which this gateway takes images.`, {
    hint: `DRAGOMAN_IMAGE_REGISTRIES names them: ${hosts.join(', ') || 'none'}.`,
  })
}
