import { type Code, Failure } from '../../schemas/failure.ts'
import type { Clock, Wait } from '../../src/common/clock.ts'
import type { Provider, Quote } from './providers/provider.ts'
import type { Instrument } from './symbol.ts'

/** What a source said: a quote, null for what it does not know, or its failure. */
export interface Heard {
  readonly id: string
  readonly name: string
  readonly said: Quote | null | Failure
}

export interface Hedge {
  readonly clock: Clock
  readonly wait: Wait
  /** How many quotes to wait for: so many sources start at once. */
  readonly wanted: number
}

interface Running {
  readonly done: Promise<void>
  readonly abort: AbortController
}

/** What a source may do wrong without spoiling the others' turn. */
const trouble: ReadonlySet<Code> = new Set<Code>([
  'upstream_failed',
  'upstream_timeout',
  'upstream_invalid',
  'too_large',
  'blocked_address',
  'circuit_open',
])

const headStart = 800
const future = 2 * 60_000

/**
 * Asks sources in their order until enough of them gave a quote. The next one starts when one has none to give, and
 * when nothing came for 800 ms. Whoever is still busy at the end is cancelled: one that had a head start and lost it has
 * failed with `upstream_timeout`, which counts against it. Gives what was said, in the order it came.
 */
export async function hear<Asked extends Instrument>(
  providers: readonly Provider<Asked>[],
  asked: Asked,
  { clock, wait, wanted }: Hedge,
  signal: AbortSignal,
): Promise<Heard[]> {
  const heard: Heard[] = []
  const arrived: Heard[] = []
  const running = new Map<string, Running>()
  const waiting = [...providers]

  function start(): void {
    const provider = waiting.shift()
    if (!provider) return
    const abort = new AbortController()
    const quote = quoteFrom(provider, asked, clock, AbortSignal.any([signal, abort.signal]))
    const done = quote.then((said) => {
      arrived.push({ id: provider.id, name: provider.name, said })
    })
    running.set(provider.id, { done, abort })
  }

  const isEnough = () => heard.filter(({ said }) => isQuote(said)).length >= wanted
  for (let count = 0; count < wanted; count++) start()
  try {
    while (running.size > 0 && !isEnough()) {
      await anyOf(running, waiting.length > 0 ? wait : undefined)
      const news = arrived.splice(0)
      if (news.length === 0) start()
      for (const one of news) {
        running.delete(one.id)
        heard.push(one)
        if (!isQuote(one.said)) start()
      }
    }
    return [...heard, ...late(providers, heard, running)]
  } finally {
    for (const { done, abort } of running.values()) {
      abort.abort(abort.signal.reason ?? new Failure('cancelled', 'Another source was faster.'))
      done.catch(() => {})
    }
  }
}

export function isQuote(said: Heard['said']): said is Quote {
  return said !== null && !(said instanceof Failure)
}

/** The sources that stand before the winner, and have nothing to show for it. */
function late<Asked extends Instrument>(
  providers: readonly Provider<Asked>[],
  heard: readonly Heard[],
  running: ReadonlyMap<string, Running>,
): Heard[] {
  const winner = heard.findLast(({ said }) => isQuote(said))
  const place = providers.findIndex(({ id }) => id === winner?.id)
  return providers.slice(0, Math.max(0, place)).flatMap(({ id, name }) => {
    const { abort } = running.get(id) ?? {}
    if (!abort || !winner) return []
    const said = new Failure('upstream_timeout', `slower than ${winner.name}`)
    abort.abort(said)
    return [{ id, name, said }]
  })
}

async function quoteFrom<Asked extends Instrument>(
  { quote }: Provider<Asked>,
  asked: Asked,
  clock: Clock,
  signal: AbortSignal,
): Promise<Heard['said']> {
  try {
    const found = await quote(asked, signal)
    if (!found?.time || found.time <= clock() + future) return found
    return new Failure('upstream_invalid', 'a trade in the future')
  } catch (thrown) {
    if (thrown instanceof Failure && trouble.has(thrown.code)) return thrown
    throw thrown
  }
}

/** Resolves when one of them is done, or when the head start has passed. */
async function anyOf(running: ReadonlyMap<string, Running>, wait: Wait | undefined): Promise<void> {
  const over = new AbortController()
  const bell = wait ? [wait(headStart, over.signal).catch(() => {})] : []
  try {
    await Promise.race([...[...running.values()].map(({ done }) => done), ...bell])
  } finally {
    over.abort()
  }
}
