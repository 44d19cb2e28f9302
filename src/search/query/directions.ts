import { eastAsian, fold, stem } from './analyse.ts'
import { stopWords } from './stop-words.ts'

/** A conversion, as a term that no word equals: "PDF to Markdown" is `pdf>markdown`. */
export type Direction = `${string}>${string}`

const connectors = new Set(['to', 'into', 'as'])
const articles = new Set(['a', 'an', 'the'])
const joiners = new Set([',', '/', '(', ')', 'and', 'or'])
/** Words between a format and its connector, as in "PDF files to text". */
const generic = new Set('file files document documents page pages content format formats'.split(' '))
const alike: ReadonlyMap<string, string> = new Map([
  ['md', 'markdown'],
  ['docx', 'word'],
  ['jpg', 'jpeg'],
  ['yml', 'yaml'],
])
const tokens = /[\p{L}\p{N}]+|[^\s\-_]/gu
const joined = /^(\p{L}{2,})2(\p{L}{2,})$/u
/** Maximum formats before one connector. */
const maxSources = 8
const maxCharacters = 20_000

/**
 * The ordered pairs of words around "to", "into" and "as", and the other way round around "out of", each once; a list
 * before the connector makes several.
 */
export function directionsOf(text: string): Set<Direction> {
  const found = new Set<Direction>()
  const all = fold(text.slice(0, maxCharacters)).match(tokens) ?? []
  const add = (from: string, to: string) => {
    if (isWord(from) && isWord(to) && from !== to) found.add(`${formOf(from)}>${formOf(to)}`)
  }
  for (const [at, token] of all.entries()) {
    const [, left, right] = joined.exec(token) ?? []
    if (left !== undefined && right !== undefined) add(left, right)
    if (connectors.has(token)) {
      for (const source of sourcesBefore(all, at)) add(source, wordAfter(all, at))
    } else if (token === 'out' && all[at + 1] === 'of') {
      for (const target of sourcesBefore(all, at)) add(wordAfter(all, at + 1), target)
    }
  }
  return found
}

function wordAfter(all: readonly string[], at: number): string {
  return (articles.has(all[at + 1] ?? '') ? all[at + 2] : all[at + 1]) ?? ''
}

const between = '(?:a|à|au|al|in|zu)'
/**
 * How other languages write "to" between what is converted: in requests only, since "en" and "in" say less in texts.
 * What stands before comes last in a pattern: to look for it first, at every letter, takes ten times as long.
 */
const connectorsElsewhere = [
  String.raw`\s${between}\s(?<=\b(?:de|del|da|dal|von|vom|aus)\s\S{1,40}\s${between}\s)`,
  String.raw`\sin\s(?=\S{1,40}\s(?:umwandel|konvertier|verwandel|übersetz))`,
  String.raw`\s(?:in|a)\s(?<=\b(?:conver|trasform|transform)\p{L}{1,8}\s.{1,60}\s(?:in|a)\s)`,
  String.raw`\s(?:en|vers|nach|em|para|в|на)\s`,
  '转(?:换|化)?(?:成|为|到|至)?|轉(?:換|化)?(?:成|為)?',
  String.raw`(?:を|から)(?=[^\s\p{scx=Hira}]{1,20}[にへ])|(?:[을를]|에서)\s?(?=[^\s]{1,20}?\s?으?로(?:\s|$))`,
].join('|')
const elsewhere = new RegExp(connectorsElsewhere, 'giu')
const eastAsianRuns = new RegExp(`${eastAsian}+`, 'gv')

/** A request with "to" in the place of the connectors of other languages. */
export function withConnectors(request: string): string {
  return request.slice(0, maxCharacters).replace(elsewhere, ' to ')
}

/** The directions that a request asks for, between words in Latin letters, in any language whose connectors are known. */
export function directionsAsked(request: string): Set<Direction> {
  return directionsOf(withConnectors(request).replace(eastAsianRuns, ' '))
}

/** What is converted, and what it becomes, as terms: `pdf>` and `>markdown`. */
export function endsOf(direction: Direction): readonly [from: string, to: string] {
  const [from = '', to = ''] = direction.split('>')
  return [`${from}>`, `>${to}`]
}

export function reversed(direction: Direction): Direction {
  const [from = '', to = ''] = direction.split('>')
  return `${to}>${from}`
}

/** The word before the connector, and the words that are joined to it by commas, "and" and "or". */
function sourcesBefore(all: readonly string[], connector: number): string[] {
  const sources: string[] = []
  let isJoined = true
  for (let at = connector - 1; at >= 0 && sources.length < maxSources; at--) {
    const token = all[at] ?? ''
    if (joiners.has(token)) isJoined = true
    else if (generic.has(token) && sources.length === 0) continue
    else if (!isJoined) break
    else {
      sources.push(token)
      isJoined = false
    }
  }
  return sources
}

function isWord(token: string): boolean {
  return /^[\p{L}\p{N}]/u.test(token) && !stopWords.has(token)
}

function formOf(token: string): string {
  return stem(alike.get(token) ?? token)
}
