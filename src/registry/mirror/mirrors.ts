import { slug } from '../../../schemas/derived-name.ts'
import { Failure } from '../../../schemas/failure.ts'
import { Mirror, type MirrorInput, MirrorName, noCounts, type StoredMirror } from '../../../schemas/mirror.ts'
import type { Clock } from '../../common/clock.ts'
import { dayMilliseconds } from '../../common/days.ts'
import type { Store, Writer } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { textHashes } from '../indexing/vector-feed.ts'
import type { MirrorRunner } from './runner.ts'

interface MirrorsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly runner: MirrorRunner
  /** Finds out what is at a URL. Throws Failure. */
  readonly kindAt: (url: string, signal: AbortSignal) => Promise<StoredMirror['kind']>
  /** Resolves once the indexes have applied a revision. */
  readonly applied: (revision: number) => Promise<void>
  readonly saveSnapshots: () => Promise<void>
  /** The gateway's own origins, which are not mirrored. */
  readonly own_origins: () => readonly string[]
  readonly onError: (fault: unknown, mirror: string) => void
}

/**
 * The official MCP registry. Licence of its data: its terms of service, section 10; removal: its moderation policy
 * (https://modelcontextprotocol.io/registry).
 */
const official = {
  url: 'https://registry.modelcontextprotocol.io/v0.1',
  kind: 'mcp-registry',
  license: 'CC0-1.0',
  attribution: 'Official MCP Registry, https://registry.modelcontextprotocol.io',
  takedown: 'https://github.com/modelcontextprotocol/registry/issues',
} as const

const eraseSize = 200

/** A run of this process. */
interface Run {
  readonly begun: Promise<void>
  readonly ended: Promise<void>
}

/** The mirrors of a registry. */
export class Mirrors implements AsyncDisposable {
  readonly #options: MirrorsOptions
  readonly #stop = new AbortController()
  /** By the names of the mirrors. */
  readonly #runs = new Map<string, Run>()

  constructor(options: MirrorsOptions) {
    this.#options = options
  }

  async add(input: MirrorInput, signal: AbortSignal): Promise<Mirror> {
    const { store, clock, kindAt } = this.#options
    const { preset, url, name } = this.#placeOf(input)
    const kind = input.kind ?? preset?.kind ?? (await kindAt(url, signal))
    const mirror: StoredMirror = {
      ...neverRun(new Date(clock()).toISOString()),
      name,
      kind,
      url,
      every_s: input.every_s,
      filter: input.filter,
      license: input.license ?? preset?.license ?? null,
      attribution: input.attribution ?? preset?.attribution ?? new URL(url).host,
      takedown: input.takedown ?? preset?.takedown ?? null,
    }
    if (!(await store.mirrors.add(mirror))) {
      throw new Failure('conflict', `There is a mirror ${mirror.name} already.`, {
        hint: 'Give this one another name, or remove the other.',
      })
    }
    return Mirror.parse(mirror)
  }

  /**
   * Adds a mirror that the configuration names, unless it is there. Throws Failure `conflict` if its name is that of a
   * mirror of another source.
   */
  async ensure(input: MirrorInput, signal: AbortSignal): Promise<void> {
    if (await this.#has(input)) return
    await this.add(input, signal).catch(async (fault) => {
      // Another process may have added it.
      if (!(await this.#has(input))) throw fault
    })
  }

  async #has(input: MirrorInput): Promise<boolean> {
    const { name, url } = this.#placeOf(input)
    const there = (await this.list()).find((mirror) => mirror.name === name)
    if (!there || there.url === url) return there !== undefined
    throw new Failure(
      'conflict',
      `There is a mirror ${name} of ${there.url}, so that of ${url} is not added.`,
      {
        hint: `Give this one another name, or remove the other: dragoman mirror remove ${name}`,
      },
    )
  }

  #placeOf({ source, name }: MirrorInput) {
    const preset = source === 'official' ? official : undefined
    const url = preset?.url ?? checkedUrl(source, this.#options.own_origins())
    return { preset, url, name: name ?? (preset ? 'official' : checkedName(nameOf(url))) }
  }

  async list(): Promise<readonly Mirror[]> {
    return (await this.#options.store.mirrors.list()).map((mirror) => Mirror.parse(mirror))
  }

  /** Starts a run, or joins the one that this process runs already; resolves when it has begun. Throws Failure. */
  async start(name: string): Promise<Mirror> {
    await this.#find(name)
    const { begun, ended } = this.#started(name)
    ended.catch((fault) => this.#options.onError(fault, name))
    await begun
    return Mirror.parse(await this.#find(name))
  }

  /** Resolves at the end of the run that `start` began. Throws Failure as the run does. */
  async ended(name: string): Promise<void> {
    await this.#runs.get(name)?.ended
  }

  /** Removes a mirror with its agents, except those that have an owner here; returns how many were removed and kept. */
  async remove(name: string): Promise<{ readonly removed: number; readonly left: number }> {
    const { store, saveSnapshots } = this.#options
    await this.#find(name)
    // A run that is under way, here or in another process, sees the phase at its next page, and ends.
    await this.#change(name, (mirror) => ({ ...mirror, phase: 'removal' }))
    await this.#runs.get(name)?.ended.catch(() => {})
    const counts = await this.#erase(name)
    await store.mirrors.remove(name)
    // What the mirror listed may now be listed by another one, which reads everything once more.
    for (const other of await store.mirrors.list()) {
      await this.#change(other.name, (mirror) => ({ ...mirror, all_read_at: null }))
    }
    await store.retention.vacuum()
    await saveSnapshots()
    return counts
  }

  /** True if a mirror is due that this process does not run. */
  async isDue(): Promise<boolean> {
    return (await this.#due()).length > 0
  }

  /** Starts the runs that are due, and does not wait for their ends; returns their number. */
  async run(): Promise<number> {
    const mirrors = await this.#due()
    for (const { name } of mirrors) {
      this.#started(name).ended.catch((fault) => {
        const isElsewhere = fault instanceof Failure && fault.code === 'conflict'
        if (!isElsewhere && !this.#stop.signal.aborted) this.#options.onError(fault, name)
      })
    }
    return mirrors.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended))
  }

  async #find(name: string): Promise<StoredMirror> {
    const mirror = await this.#options.store.mirrors.get(name)
    if (!mirror) throw new Failure('not_found', `There is no mirror ${name}.`)
    return mirror
  }

  async #change(name: string, work: (mirror: StoredMirror) => StoredMirror): Promise<void> {
    await this.#options.store.write(async (writer) => {
      const mirror = await writer.mirror(name)
      if (mirror) await writer.putMirror(work(mirror))
    })
  }

  #started(name: string): Run {
    const running = this.#runs.get(name)
    if (running) return running
    const begun = Promise.withResolvers<void>()
    const ended = this.#options.runner
      .run(name, this.#stop.signal, begun.resolve)
      .finally(() => this.#runs.delete(name))
    ended.catch(() => {})
    const run = { begun: Promise.race([begun.promise, ended]), ended }
    run.begun.catch(() => {})
    this.#runs.set(name, run)
    return run
  }

  async #due(): Promise<StoredMirror[]> {
    const { store, clock } = this.#options
    const now = clock()
    // A time of next run that is implausibly late was set under a clock that has since been set back.
    return (await store.mirrors.list()).filter(({ name, next_at, every_s, phase }) => {
      if (phase === 'removal' || this.#runs.has(name)) return false
      const left = Date.parse(next_at) - now
      return left <= 0 || left > every_s * 1000 + dayMilliseconds
    })
  }

  /** Removes the entries of a mirror that nobody owns, and frees the others from it. */
  async #erase(name: string): Promise<{ removed: number; left: number }> {
    const { store, clock, applied } = this.#options
    const counts = { removed: 0, left: 0 }
    let after: string | undefined
    for (;;) {
      const items = await store.mirrors.items(name, {
        limit: eraseSize,
        ...(after !== undefined && { after }),
      })
      if (items.length === 0) return counts
      after = items.at(-1)?.key
      const ids = items.map(({ entry_id }) => entry_id)
      const at = new Date(clock()).toISOString()
      const { result, revision } = await store.write((writer) => release(writer, name, ids, at))
      await applied(revision)
      await store.retention.erase(
        result.removed.map(({ id }) => id),
        result.removed.flatMap((entry) => textHashes(entry)),
      )
      counts.removed += result.removed.length
      counts.left += result.left
    }
  }
}

/** The state of a mirror before its first run. */
function neverRun(at: string) {
  return {
    created_at: at,
    status: 'waiting',
    run: 0,
    mode: null,
    started_at: null,
    finished_at: null,
    next_at: at,
    counts: noCounts,
    rejections: [],
    error: null,
    phase: 'done',
    cursor: null,
    since: null,
    complete_until: null,
    all_read_at: null,
    failures: 0,
    doubted_at: null,
  } as const satisfies Partial<StoredMirror>
}

/** Removes entries of a mirror that nobody owns, and frees the others from it. */
async function release(
  writer: Writer,
  name: string,
  ids: readonly string[],
  at: string,
): Promise<{ readonly removed: readonly StoredEntry[]; readonly left: number }> {
  const audit = { actor: null, action: 'remove_mirror', reason: name }
  const removed: StoredEntry[] = []
  let left = 0
  for (const id of ids) {
    const entry = await writer.entry({ id })
    if (!entry || entry.origin?.source !== name) continue
    const suspended = entry.origin.removed ? null : entry.suspended
    const next = entry.owner ? { ...entry, origin: null, suspended } : { ...entry, deleted: true }
    await writer.put({ ...next, updated_at: at }, audit)
    if (entry.owner) {
      await writer.adoptServers(name, entry, at)
      left += 1
    } else removed.push(entry)
  }
  return { removed, left }
}

/** Throws Failure `invalid_request`. */
function checkedUrl(source: string, own: readonly string[]): string {
  const invalid = (detail: string) =>
    new Failure('invalid_request', `${source} cannot be mirrored.`, {
      errors: [{ pointer: '/source', detail }],
      hint: 'Give the word official, or the https URL of a registry or a list.',
    })
  if (!URL.canParse(source) || !/^https?:/i.test(source)) throw invalid('It is not an http or https URL.')
  const { username, password, origin } = new URL(source)
  if (username || password) throw invalid('It holds credentials, which `origin` would show to everybody.')
  if (own.includes(origin)) throw invalid('It is this gateway.')
  return source
}

/** Throws Failure `invalid_request` for a name that a mirror cannot have. */
function checkedName(name: string): string {
  if (MirrorName.safeParse(name).success) return name
  throw new Failure('invalid_request', 'The mirror needs a name, because none can be made from the URL.', {
    hint: 'State its name: lower-case letters, digits and dashes.',
  })
}

/** The host and the path in one word. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url)
  const path = pathname.replace(/\/v0(\.\d+)?\/?$/, '')
  return slug(`${host}${path}`)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/-+$/, '')
}
