import { isDeepStrictEqual } from 'node:util'
import { AccessReport } from '../../../schemas/callable.ts'
import { FailureClass, type Liveness, LivenessStatus } from '../../../schemas/liveness.ts'

const statuses = LivenessStatus.options
const failures = [null, ...FailureClass.options]
const accesses = [null, ...AccessReport.shape.kind.options]

/** The numbers of a row: see `pack`. */
const rowLength = 8
const growth = 1.125

/** The liveness of agents by their ids. An agent takes some 180 bytes; as an object it would take 400. */
export class PackedLiveness {
  readonly #rowOf = new Map<string, number>()
  readonly #free: number[] = []
  #numbers = new Float64Array(1024 * rowLength)
  /** What does not come back from a row as it was, such as a status of a newer version. */
  readonly #unpacked = new Map<string, Liveness>()

  get(id: string): Liveness | undefined {
    const row = this.#rowOf.get(id)
    return row === undefined ? this.#unpacked.get(id) : unpack(this.#numbersOf(row))
  }

  set(id: string, liveness: Liveness): void {
    const packed = pack(liveness)
    if (!isDeepStrictEqual(unpack(packed), liveness)) {
      this.delete(id)
      this.#unpacked.set(id, liveness)
      return
    }
    this.#unpacked.delete(id)
    this.#numbersOf(this.#rowOf.get(id) ?? this.#add(id)).set(packed)
  }

  delete(id: string): void {
    this.#unpacked.delete(id)
    const row = this.#rowOf.get(id)
    if (row === undefined) return
    this.#rowOf.delete(id)
    this.#free.push(row)
  }

  #add(id: string): number {
    // Without a free row, the rows have no gaps.
    const row = this.#free.pop() ?? this.#rowOf.size
    this.#rowOf.set(id, row)
    const needed = (row + 1) * rowLength
    if (needed > this.#numbers.length) {
      const bytes = Math.ceil((row + 1) * growth) * rowLength * Float64Array.BYTES_PER_ELEMENT
      this.#numbers = new Float64Array(this.#numbers.buffer.transfer(bytes))
    }
    return row
  }

  #numbersOf(row: number): Float64Array {
    return this.#numbers.subarray(row * rowLength, (row + 1) * rowLength)
  }
}

/** Null is stored as NaN. */
function pack({ status, failure, access, ...rest }: Liveness): Float64Array {
  const outcome = statuses.indexOf(status) * failures.length + failures.indexOf(failure)
  return Float64Array.of(
    outcome * accesses.length + accesses.indexOf(access?.kind ?? null),
    Date.parse(access?.asked_at ?? ''),
    Date.parse(rest.since ?? ''),
    Date.parse(rest.checked_at ?? ''),
    Date.parse(rest.last_ok ?? ''),
    rest.uptime_30d ?? Number.NaN,
    rest.p50_ms ?? Number.NaN,
    rest.p95_ms ?? Number.NaN,
  )
}

/** Undefined for a code that stands for nothing. */
function unpack(content: Float64Array): Liveness | undefined {
  const [code = -1, asked_at, since, checked_at, last_ok, uptime_30d, p50_ms, p95_ms] = content
  const outcome = Math.floor(code / accesses.length)
  const kind = accesses[code % accesses.length]
  const status = statuses[Math.floor(outcome / failures.length)]
  const failure = failures[outcome % failures.length]
  if (status === undefined || failure === undefined) return undefined
  return Object.freeze({
    status,
    since: timeOf(since),
    checked_at: timeOf(checked_at),
    last_ok: timeOf(last_ok),
    uptime_30d: numberOf(uptime_30d),
    p50_ms: numberOf(p50_ms),
    p95_ms: numberOf(p95_ms),
    failure,
    access: kind ? { kind, asked_at: timeOf(asked_at) ?? '' } : null,
  })
}

function numberOf(stored = Number.NaN): number | null {
  return Number.isNaN(stored) ? null : stored
}

function timeOf(stored?: number): string | null {
  const at = numberOf(stored)
  return at === null ? null : new Date(at).toISOString()
}
