import { publishedBy } from '../../../schemas/ard.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { hidesCharacters, inOneLine } from '../../../schemas/text.ts'
import { contentFlags } from '../entry/content-flags.ts'
import type { ForeignResult } from './merge.ts'

/** Maximum size of an answer, in bytes. */
export const maxAnswerBytes = 512 * 1024

const maxName = 200
const maxDescription = 500
const maxTags = 20
const maxTag = 50

/**
 * The results in the answer of another registry to `POST /search`, at most `max`. Results without a valid identifier
 * or a card are left out, and so is everything that a result does not need: the text of strangers is data. Throws Failure
 * `upstream_invalid` for an answer that is none.
 */
export function readResults(body: Uint8Array, source: string, max: number): ForeignResult[] {
  const answer = parsed(body)
  if (!isRecord(answer) || !Array.isArray(answer.results)) {
    throw new Failure('upstream_invalid', 'The answer is not a list of results.')
  }
  return answer.results.slice(0, max).flatMap((result) => readResult(result, source))
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (fault) {
    throw new Failure('upstream_invalid', 'The answer is not JSON.', {}, fault)
  }
}

function readResult(result: unknown, source: string): ForeignResult[] {
  if (!isRecord(result)) return []
  const { identifier } = result
  if (typeof identifier !== 'string' || !publishedBy(identifier)) return []
  const stated = textsOf(result)
  const texts = [stated.name, stated.description, stated.type, stated.version, ...stated.tags]
  const isHiding = texts.some((text) => text !== undefined && hidesCharacters(text))
  const name = cleaned(stated.name) || (identifier.split(':').at(-1) ?? identifier)
  const shown = {
    name,
    description: cleaned(stated.description) ?? '',
    tags: stated.tags.map((tag) => cleaned(tag) ?? '').filter(Boolean),
  }
  const flags = [
    ...contentFlags({ ...shown, capabilities: [] }),
    ...(isHiding ? (['hidden_characters'] as const) : []),
  ]
  const [type, version, url] = [cleaned(stated.type), cleaned(stated.version), webAddress(result.url)]
  const updatedAt = timeIn(result.updatedAt)
  // Clients refuse a page with an entry that has no card.
  if (!type || url === undefined) return []
  return [
    {
      source,
      identifier,
      ...shown,
      score: scoreIn(result.score),
      type,
      url,
      ...(version && { version }),
      ...(updatedAt !== undefined && { updated_at: updatedAt }),
      ...(flags.length > 0 && { content_flags: flags }),
    },
  ]
}

function textsOf({ displayName, description, type, version, tags }: Record<string, unknown>) {
  return {
    name: textIn(displayName, maxName),
    description: textIn(description, maxDescription),
    type: textIn(type, 100),
    version: textIn(version, 100),
    tags: (Array.isArray(tags) ? tags : []).slice(0, maxTags).flatMap((tag) => textIn(tag, maxTag) ?? []),
  }
}

function textIn(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? value.slice(0, max).toWellFormed() : undefined
}

function cleaned(text: string | undefined): string | undefined {
  return text === undefined ? undefined : inOneLine(text)
}

/** Registries state integers from 0 to 100. */
function scoreIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value)
    ? Math.round(Math.min(100, Math.max(0, value)))
    : 0
}

function webAddress(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= 2048 ? URL.parse(value) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return url.href
}

function timeIn(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
