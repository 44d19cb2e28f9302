import { isDeepStrictEqual } from 'node:util'
import { AccessReport } from '../../../schemas/callable.ts'
import { FailureClass, type Liveness, LivenessStatus } from '../../../schemas/liveness.ts'

const statuses = LivenessStatus.options
const failures = [null, ...FailureClass.options]
const accesses = [null, ...AccessReport.shape.kind.options]

/** The numbers of a row: the key of the id in the bytes of the first, then what `pack` makes. */
const rowLength = 9
const bytesPerNumber = 8
/** A table of places that is fuller is slow. */
const maxFilled = 0.7

/** The liveness of agents by their ids. An agent takes 90 bytes; as an object it would take 400. */
export class PackedLiveness {
  #rows = new Float64Array(1024 * rowLength)
  /** The same bytes: the two numbers of a key stand at the start of its row. */
  #keys = new Uint32Array(this.#rows.buffer)
  #count = 0
  /** A row plus one, at the place of its key or in the places after it; 0 is free. */
  #places = new Uint32Array(2048)
  /** What does not come back from a row as it was, such as a status of a newer version. */
  readonly #unpacked = new Map<string, Liveness>()

  get(id: string): Liveness | undefined {
    const row = this.#places[this.#placeOf(keyOf(id))]
    return this.#unpacked.get(id) ?? (row ? unpack(this.#contentOf(row - 1)) : undefined)
  }

  set(id: string, liveness: Liveness): void {
    const packed = pack(liveness)
    if (isDeepStrictEqual(unpack(packed), liveness)) {
      this.#unpacked.delete(id)
      this.#contentOf(this.#rowOf(keyOf(id))).set(packed)
    } else this.#unpacked.set(id, liveness)
  }

  delete(id: string): void {
    this.#unpacked.delete(id)
    const place = this.#placeOf(keyOf(id))
    const row = this.#places[place]
    if (!row) return
    // The last row takes the place of this one, so that the rows have no gaps.
    const last = --this.#count
    this.#places[this.#placeOf(this.#keyAt(last))] = row
    this.#rows.copyWithin((row - 1) * rowLength, last * rowLength, (last + 1) * rowLength)
    this.#freePlace(place)
  }

  #contentOf(row: number): Float64Array {
    return this.#rows.subarray(row * rowLength + 1, (row + 1) * rowLength)
  }

  #rowOf(key: Key): number {
    const found = this.#places[this.#placeOf(key)]
    if (found) return found - 1
    if ((this.#count + 1) * rowLength > this.#rows.length) this.#growRows()
    if (this.#count + 1 > this.#places.length * maxFilled) this.#growPlaces()
    const row = this.#count++
    this.#keys.set(key, 2 * row * rowLength)
    this.#places[this.#placeOf(key)] = row + 1
    return row
  }

  /** The place of the key's row, or the free one that it would take. */
  #placeOf([first, second]: Key): number {
    const mask = this.#places.length - 1
    for (let place = first & mask; ; place = (place + 1) & mask) {
      const row = this.#places[place] ?? 0
      if (row === 0) return place
      const [left, right] = this.#keyAt(row - 1)
      if (left === first && right === second) return place
    }
  }

  #keyAt(row: number): Key {
    const at = 2 * row * rowLength
    return [this.#keys[at] ?? 0, this.#keys[at + 1] ?? 0]
  }

  /** Moves rows that were put after a place that was taken, and would no longer be found behind a free one. */
  #freePlace(place: number): void {
    const mask = this.#places.length - 1
    let free = place
    for (let next = (free + 1) & mask; ; next = (next + 1) & mask) {
      const row = this.#places[next] ?? 0
      if (row === 0) break
      const [first] = this.#keyAt(row - 1)
      if (((next - first) & mask) < ((next - free) & mask)) continue
      this.#places[free] = row
      free = next
    }
    this.#places[free] = 0
  }

  #growRows(): void {
    const rows = Math.ceil(this.#count * 1.125)
    this.#rows = new Float64Array(this.#rows.buffer.transfer(rows * rowLength * bytesPerNumber))
    this.#keys = new Uint32Array(this.#rows.buffer)
  }

  #growPlaces(): void {
    this.#places = new Uint32Array(this.#places.length * 2)
    for (let row = 0; row < this.#count; row++) this.#places[this.#placeOf(this.#keyAt(row))] = row + 1
  }
}

type Key = readonly [first: number, second: number]

/**
 * 64 bits of a hash: among a million ids, two have the same with a probability of 3 in 100 million. Ids are made here, so
 * nobody chooses them; a cryptographic hash takes six times as long.
 */
function keyOf(id: string): Key {
  let [first, second] = [0x9e3779b1, 0x85ebca77]
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at)
    first = Math.imul(first ^ unit, 0x01000193)
    second = Math.imul(second ^ unit, 0x5bd1e995)
  }
  return [mix(first ^ (second >>> 15)), mix(second ^ (first >>> 13))]
}

/** The last step of MurmurHash3 (Appleby), in which each bit changes half of the others. */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
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
