import { hash } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Signal, StoredLiveness } from '../../../schemas/liveness.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { Fetch, FetchResponse } from '../../net/fetch/fetch.ts'
import { readFindings } from '../cards/card-findings.ts'
import { maxManifestBytes, parseManifest } from '../cards/fetch-card.ts'
import { answers, classOf } from './failure-class.ts'

type Card = StoredLiveness['card']

/** The result of the conditional request for a card. */
export interface CardProbe {
  readonly signals: readonly Signal[]
  readonly card: Card
  /** True if the card has changed. */
  readonly has_changed: boolean
  /** True if the card's host answered, whether the card is well-formed or not. */
  readonly is_reachable: boolean
  readonly retry_after_s?: number | undefined
}

interface CardProbeOptions {
  readonly fetch: Fetch
  readonly clock: () => number
  readonly timeout_ms: number
}

/** Reads the card at a URL by a conditional request (RFC 9110 section 13). Throws the signal's reason. */
export async function probeCard(
  url: string,
  previous: Card,
  { fetch, clock, timeout_ms }: CardProbeOptions,
  signal: AbortSignal,
): Promise<CardProbe> {
  const started = performance.now()
  const took = () => Math.round(performance.now() - started)
  try {
    const headers = { accept: 'application/json', ...validatorsOf(previous) }
    const answer = await fetch({ url, signal, headers, max_bytes: maxManifestBytes, timeout_ms })
    const card: Signal = { signal: 'card', ok: true, failure: null, detail: null, ms: took() }
    if (answer.status === 304 && previous) return unchanged(card, previous)
    if (answer.status !== 200) return refused(answer, card, previous, clock())
    return read(answer, card, previous)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    signal.throwIfAborted()
    const failure = thrown.code === 'too_large' ? 'card_invalid' : classOf(thrown)
    const card: Signal = { signal: 'card', ok: false, failure, detail: thrown.message, ms: null }
    return { signals: [card], card: previous, has_changed: false, is_reachable: false }
  }
}

function validatorsOf(previous: Card): Record<string, string> {
  return {
    ...(previous?.etag && { 'if-none-match': previous.etag }),
    ...(previous?.last_modified && { 'if-modified-since': previous.last_modified }),
  }
}

function unchanged(card: Signal, previous: NonNullable<Card>): CardProbe {
  return {
    signals: [card, formOf(previous.malformed)],
    card: previous,
    has_changed: false,
    is_reachable: true,
  }
}

function refused({ status, headers }: FetchResponse, card: Signal, previous: Card, now: number): CardProbe {
  const upstream = new Failure('upstream_failed', `The card answers ${status}.`, { upstream: { status } })
  const found = classOf(upstream)
  const isThere = answers(found)
  const failure = isThere ? found : 'card_unreachable'
  return {
    signals: [{ ...card, ok: isThere, failure, detail: upstream.message }],
    card: previous,
    has_changed: false,
    is_reachable: isThere,
    retry_after_s: retryAfter(headers['retry-after'], now),
  }
}

function read({ body, headers }: FetchResponse, card: Signal, previous: Card): CardProbe {
  const sha256 = hash('sha256', body, 'hex')
  const validators = { etag: headerOf(headers.etag), last_modified: headerOf(headers['last-modified']) }
  if (previous?.sha256 === sha256) return unchanged(card, { ...previous, ...validators })
  const has_changed = previous !== null
  try {
    const { findings } = readFindings(parseManifest(body))
    const malformed = findings.find(({ severity }) => severity === 'error')?.message ?? null
    const found = { ...validators, sha256, malformed }
    return { signals: [card, formOf(malformed)], card: found, has_changed, is_reachable: true }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { signals: [card, formOf(thrown.message)], card: null, has_changed, is_reachable: false }
  }
}

const maxHeaderCharacters = 300

function headerOf(value: string | undefined): string | null {
  return value !== undefined && value.length <= maxHeaderCharacters ? value : null
}

function formOf(malformed: string | null): Signal {
  const failure = malformed === null ? null : ('card_invalid' as const)
  return { signal: 'form', ok: malformed === null, failure, detail: malformed, ms: null }
}
