import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../../schemas/audit.ts'
import type { AccessReport } from '../../../schemas/callable.ts'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { flagsOf, type ProtectedName } from '../entry/imitation.ts'
import { hasSignIn, kindOf, namesMetadata } from './access.ts'
import { readEndpoint, withoutReading, withReading, withRun } from './reading.ts'
import type { ReadServer } from './server-statement.ts'

/** The answer of a server: its statement, or why it gave none; and what that says about access. */
export interface Reading {
  readonly answer: ServerStatement | Failure
  readonly kind: AccessReport['kind'] | undefined
}

interface CapabilityReaderOptions {
  readonly store: Store
  readonly clock: () => number
  readonly readServer: ReadServer
  readonly fetch: Fetch
  /** The names that the operator protects; none when absent. */
  readonly protectedNames?: readonly ProtectedName[]
  /** Time-out of one reading, in milliseconds; 20,000 when absent. */
  readonly timeout_ms?: number
}

const auditAction: AuditAction = { actor: null, action: 'read' }
/** A reading without news is written once this time has passed, so that readings cause few changes. */
const noteMilliseconds = 20 * 3_600_000
const defaultTimeout = 20_000

/** Reads the tools of MCP servers as the capabilities of their entries, with the gateway's own identity. */
export class CapabilityReader {
  readonly #options: CapabilityReaderOptions

  constructor(options: CapabilityReaderOptions) {
    this.#options = options
  }

  /** Reads one server; null for an entry that no MCP server serves. Throws the signal's reason. */
  async ask(entry: StoredEntry, signal: AbortSignal): Promise<Reading | null> {
    const endpoint = readEndpoint(entry)
    if (!endpoint) return null
    const { readServer, fetch, timeout_ms = defaultTimeout } = this.#options
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)])
    try {
      return { answer: await readServer(endpoint, limited), kind: kindOf(undefined, entry) }
    } catch (thrown) {
      signal.throwIfAborted()
      const answer = limited.aborted ? late() : Failure.from(thrown)
      const kind = kindOf(answer, entry)
      const isUnexplained = kind === 'needs_key' && !namesMetadata(answer.details.upstream?.challenge ?? '')
      const isSignIn = isUnexplained && (await hasSignIn(endpoint.url, fetch, limited).catch(() => false))
      return { answer, kind: isSignIn ? 'needs_sign_in' : kind }
    }
  }

  /** Reads the server of one entry and writes what is new. Returns the revision of the registry. */
  async read(id: string, signal: AbortSignal): Promise<number> {
    const { store } = this.#options
    const entry = await store.read.entry({ id })
    const reading = entry && (await this.ask(entry, signal))
    return reading ? await this.note(entry, reading) : await store.read.revision()
  }

  /** Writes what a version of the package of an entry listed when it ran. */
  async noteRun(id: string, statement: ServerStatement, packageVersion: string): Promise<void> {
    const { store, clock, protectedNames = [] } = this.#options
    await store.write(async (writer) => {
      const now = await writer.entry({ id })
      if (!now || now.deleted) return
      const after = withRun(now, statement, packageVersion, new Date(clock()).toISOString())
      if (!isNews(now, after)) return
      const content_flags = await flagsOf(after, writer, protectedNames)
      await writer.put({ ...after, content_flags }, auditAction)
    })
  }

  /** Writes what is new in a reading of an entry. Returns the revision of the registry. */
  async note(entry: StoredEntry, reading: Reading): Promise<number> {
    const { store, clock, protectedNames = [] } = this.#options
    const { revision } = await store.write(async (writer) => {
      const now = await writer.entry({ id: entry.id })
      if (!now || now.deleted || !isDeepStrictEqual(now.endpoints, entry.endpoints)) return
      const after = afterReading(now, reading, new Date(clock()).toISOString())
      if (!isNews(now, after)) return
      const content_flags = await flagsOf(after, writer, protectedNames)
      await writer.put({ ...after, content_flags }, auditAction)
    })
    return revision
  }
}

/** An entry after its server was read. */
export function afterReading(entry: StoredEntry, { answer, kind }: Reading, at: string): StoredEntry {
  const read = answer instanceof Failure ? withoutReading(entry, answer, at) : withReading(entry, answer, at)
  const access = kind && isOther(entry, kind) ? { kind, asked_at: at } : entry.access
  const isSame = isDeepStrictEqual(contentOf(read), contentOf(entry))
  return { ...read, access, updated_at: isSame ? entry.updated_at : at }
}

/** A challenge without metadata is no news where a sign-in is known. */
function isOther({ access }: StoredEntry, kind: AccessReport['kind']): boolean {
  if (access?.kind === 'needs_sign_in' && kind === 'needs_key') return false
  return access?.kind !== kind
}

function contentOf({ name, description, version, capabilities }: StoredEntry): unknown {
  return { name, description, version, capabilities }
}

function isNews(before: StoredEntry, after: StoredEntry): boolean {
  const undated = (entry: StoredEntry) => ({ ...entry, reading: { ...entry.reading, checked_at: null } })
  if (!isDeepStrictEqual(undated(before), undated(after))) return true
  const [last, now] = [before, after].map(({ reading }) => Date.parse(reading?.checked_at ?? ''))
  return !(Number(now) - Number(last) < noteMilliseconds)
}

function late(): Failure {
  return new Failure('upstream_timeout', 'It did not answer in time.')
}
