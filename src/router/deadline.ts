import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { RouterOptions } from './call.ts'

/**
 * A signal that aborts with a Failure: `cancelled` with its parent, `deadline_exceeded` when time is up,
 * `unauthenticated` when the token of its caller ends.
 */
interface CallDeadline extends Disposable {
  readonly signal: AbortSignal
  /** Settles as `work` does, or rejects with the signal's Failure if that comes first. */
  race<T>(work: Promise<T>): Promise<T>
}

/**
 * The calls that run now, each until it is disposed. They are in an array: a set of few makes its table anew after a few
 * changes, and the old tables outlive the collections of young objects (measured: 120 bytes a call).
 */
export class RunningCalls {
  readonly #all: RunningCall[] = []
  /** Those that have begun in this turn of the event loop. */
  #begun: RunningCall[] = []
  readonly #standing: RouterOptions['standing']

  constructor(standing: RouterOptions['standing']) {
    this.#standing = standing
  }

  /**
   * Runs for `milliseconds` (Infinity: no limit) from now, and never longer than `parent` and the token of `caller`
   * allow; `agent` is the name of a listed agent that is called. Throws Failure `cancelled` if `parent` has aborted
   * already.
   */
  start(parent: AbortSignal, milliseconds: number, caller: Principal | null, agent?: string): CallDeadline {
    if (parent.aborted) throw Failure.cancelled(parent)
    const call = new RunningCall(parent, milliseconds, { caller, agent }, this.#all)
    if (this.#begun.push(call) === 1) setImmediate(() => this.#watchBegun())
    return call
  }

  /** Ends all of them before their time, or those of one listed agent. */
  end(reason: Failure, agent?: string): void {
    for (const call of [...this.#all]) if (agent === undefined || call.agent === agent) call.end(reason)
  }

  /** The names of the listed agents that are called now. */
  agents(): Set<string> {
    return new Set(this.#all.flatMap(({ agent }) => agent ?? []))
  }

  #watchBegun(): void {
    const begun = this.#begun
    this.#begun = []
    for (const call of begun) call.watch(this.#standing)
  }
}

/** Most calls end in the turn of the event loop in which they begin: only the others need a timer and a listener. */
class RunningCall implements CallDeadline {
  readonly #parent: AbortSignal
  readonly #milliseconds: number
  readonly #caller: Principal | null
  readonly agent: string | undefined
  readonly #running: RunningCall[]
  /** In the array; -1 once it is disposed. */
  #place: number
  readonly #controller = new AbortController()
  #isWatched = false
  #timer: NodeJS.Timeout | undefined
  #unwatch: (() => void) | undefined
  #reject: ((reason: Failure) => void) | undefined

  constructor(
    parent: AbortSignal,
    milliseconds: number,
    { caller, agent }: { readonly caller: Principal | null; readonly agent: string | undefined },
    running: RunningCall[],
  ) {
    this.#parent = parent
    this.#milliseconds = milliseconds
    this.#caller = caller
    this.agent = agent
    this.#running = running
    this.#place = running.push(this) - 1
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      if (this.signal.aborted) reject(this.signal.reason)
      work.then(resolve, reject)
    })
  }

  end(reason: Failure): void {
    this.#controller.abort(reason)
    this.#reject?.(this.signal.reason)
  }

  watch(standing: RouterOptions['standing']): void {
    if (this.#place < 0) return
    if (this.#parent.aborted) return void this.#cancel()
    this.#isWatched = true
    this.#parent.addEventListener('abort', this.#cancel)
    const isEndless = !Number.isFinite(this.#milliseconds)
    this.#unwatch = standing.watch(
      this.#caller,
      (reason) => this.end(reason),
      isEndless ? 'listens' : 'works',
    )
    if (isEndless) return
    this.#timer = setTimeout(() => this.#expire(), this.#milliseconds)
  }

  [Symbol.dispose](): void {
    this.#leave()
    if (!this.#isWatched) return
    clearTimeout(this.#timer)
    this.#unwatch?.()
    this.#parent.removeEventListener('abort', this.#cancel)
  }

  /** The last one takes its place. */
  #leave(): void {
    const last = this.#running.pop()
    if (last && last !== this) {
      this.#running[this.#place] = last
      last.#place = this.#place
    }
    this.#place = -1
  }

  readonly #cancel = (): void => this.end(Failure.cancelled(this.#parent))

  #expire(): void {
    this.end(new Failure('deadline_exceeded', `No answer within ${this.#milliseconds} ms.`))
  }
}
