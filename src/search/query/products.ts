import { fold } from './analyse.ts'
import type { QueryTerm } from './query-terms.ts'

/** Products whose names do not say who makes them, by their maker. */
const products: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    adobe: 'photoshop lightroom',
    alibaba: 'alipay taobao',
    amazon: 'alexa aws kindle',
    anthropic: 'claude',
    apple: 'icloud imessage siri',
    atlassian: 'bitbucket confluence jira trello',
    facebook: 'instagram messenger whatsapp',
    google: 'bigquery firebase gemini gmail youtube',
    meta: 'facebook instagram whatsapp',
    microsoft: 'azure bing onedrive outlook sharepoint skype',
    openai: 'chatgpt gpt',
    tencent: 'wechat weixin',
  }).map(([maker, names]) => [maker, names.split(' ')]),
)
/** Names of languages stand in requests as what is read or written, and in names of agents for those of one country. */
const languages = new Set(
  'arabic chinese dutch english french german greek hebrew hindi italian japanese korean polish portuguese russian spanish swedish turkish ukrainian vietnamese'.split(
    ' ',
  ),
)
const leastLetters = 3
const startsInLatin = /^[a-z]/

/** The products of a maker, whose name is folded: who does not want Google does not want Gmail. */
export function productsOf(maker: string): readonly string[] {
  return products.get(maker) ?? []
}

/**
 * The terms of a query that name a product or a place: words that are none of English, and those with a capital within a
 * sentence.
 */
export function namesIn(
  text: string,
  terms: readonly QueryTerm[],
  isWord: (word: string) => boolean,
): readonly string[] {
  const capitalised = new Set(text.match(/(?<=[\p{Ll}\p{N},;:]\s)\p{Lu}[\p{L}\p{N}]*/gu)?.map(fold))
  const isName = (word: string) => capitalised.has(word) || !(isWord(word) || isWord(word.replace(/s$/, '')))
  const mayBeName = (word: string) =>
    word.length >= leastLetters && startsInLatin.test(word) && !languages.has(word)
  return terms.flatMap(({ term, words }) =>
    [...words].some((word) => mayBeName(word) && isName(word)) ? term : [],
  )
}
