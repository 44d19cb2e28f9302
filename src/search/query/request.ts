import { fold } from './analyse.ts'
import { isProduct } from './product-names.ts'
import { stopWords } from './stop-words.ts'

/** What a query asks for and what it excludes. */
export interface Request {
  /**
   * The query without times and the names that it excludes. Conditions stay: agents say "without a key" and "no code".
   */
  readonly intent: string
  /** The words that it excludes, and does not ask for unless it asks for alternatives to them. */
  readonly excluded: string
}

const maxCharacters = 4_000
const word = String.raw`[\p{L}\p{N}][\p{L}\p{M}\p{N}+#.&\-]*`
const foreignArticles = 'das|der|die|den|dem|einen?|eine[mr]|el|los|las?|les?|une?|una|il|lo|os|uma?'
const articles = String.raw`(?:(?:an?|the|any|using|use|from|by|with|${foreignArticles})\s+){0,3}`
/** A word, or two at the end of a clause, or several words joined by "or", or a direction such as "text to speech". */
const excludedObject = String.raw`${articles}(${word}(?:\s+(?:to|into)\s+${word}|(?:,?\s+(?:or|and|nor)\s+${articles}${word}){1,4}|\s+${word}(?=\s*(?:$|[,.;:!?)])))?)`
/** "not" and "no" exclude what follows where they stand after a comma, "but", "and" or "is": not in "I do not know". */
const cues = [
  String.raw`(?:(?<=^|[,;(]\s*)|\b(?:but|and|is|are)\s+)not`,
  String.raw`(?:(?<=^|[,;(]\s*)|\b(?:but|and|with)\s+)no`,
  String.raw`\b(?:is|are)n['’]?t`,
  String.raw`\b(?:without|except(?:\s+for)?|(?:other|rather)\s+than|(?:any|every)thing\s+but|excluding|instead\s+of|besides|(?:apart|aside)\s+from|leav(?:e|ing)\s+out|nothing\s+(?:from|by|to\s+do\s+with))`,
  String.raw`\b(?:do\s+not|don['’]?t)\s+(?:want|use|like|need)(?:\s+to\s+use)?`,
].join('|')
/** Verbs after "that does not": Spanish, Portuguese and Italian. */
const verbs = '(?:sean?|es|use[nm]?|utilicen?|sejam?|utilizem?|sia(?:no)?|usi(?:no)?|è)'
const frenchVerbs = String.raw`n(?:e\s+soit|['’](?:est|utilise))\s+pas`
const cuesElsewhere = [
  'ohne|außer|anstatt|statt|sin|excepto|sans|sauf|hormis|sem|exceto|tirando|senza|tranne',
  String.raw`abgesehen\s+von|nada\s+de|en\s+(?:vez|lugar)\s+de|em\s+vez\s+d[eo]|au\s+lieu\s+d[eu]|plutôt\s+que|invece\s+di|al\s+posto\s+di|a\s+parte|à\s+part`,
  String.raw`(?:aber|bitte|bloß|nur|und)\s+(?:bitte\s+)?(?:nicht|keine?[nmrs]?)(?:\s+(?:von|mit|über|bei|per))?|nicht\s+von|non\s+(?:di|su|con)`,
  String.raw`(?<=[,;(]\s*)(?:keine?[nmrs]?|menos|pas(?:\s+(?:avec|de|par))?)`,
  String.raw`(?<=\b(?:todos?|todas?|cualquiera?|tudo)\s)menos`,
  String.raw`pero\s+no|mais\s+pas|mas\s+n[aã]o|ma\s+non`,
  String.raw`(?<=\bandere[nmrs]?\s(?:\p{L}{1,40}\s)?)als|(?:distint[oa]s?|diferentes?)\s+de|autres?\s+que|divers[aio]\s+da`,
  String.raw`(?:que\s+n(?:o|[aã]o)|che\s+non)(?=\s+${verbs}\s)|qui(?=\s+${frenchVerbs}\s)`,
  'zonder|behalve|bez|oprócz|zamiast|kromě|namísto|utan|utom|förutom|uden|undtagen|tanpa|kecuali|selain|крім|окрім|замість|بدون|باستثناء|عدا',
  String.raw`in(?:n[ayeą]|nego)\s+niż|ander[es]?\s+dan|jin[ýáéo]\s+než|ann(?:an|at)\s+än|andra\s+än|and(?:en|et|re)\s+end`,
  String.raw`(?:maar|en)\s+niet|ale\s+ne|ale\s+nie|men\s+(?:inte|ikke)|tapi\s+(?:bukan|jangan)|але\s+не`,
  String.raw`niet\s+(?:van|via|met|door)|nie\s+(?:od|przez)|inte\s+(?:från|med|via)|ikke\s+(?:fra|med|via)`,
  String.raw`без|кроме|вместо|за\s+исключением|(?:но|только)\s+не(?:\s+(?:в|из|от|через|на))?|не\s+(?:через|из|от)|не(?=\s+[a-z])`,
].join('|')
const exclusion = new RegExp(String.raw`(?:,\s*)?(?:${cues})\s+${excludedObject}`, 'giu')
/** The first group is the cue: it shows the language of what is left of a short request. */
const exclusionElsewhere = new RegExp(
  String.raw`(?:,\s*)?((?<![\p{L}\p{N}])(?:${cuesElsewhere}))(?:\s+(?:${verbs}|${frenchVerbs}))?\s+${excludedObject}`,
  'giu',
)
/** What a request names before it excludes it: "notion excluded", and so in Turkish and Hindi. */
const excludedBefore =
  /(?<![\p{L}\p{N}])([\p{L}\p{N}.]{2,40})(?:\s+(?:is\s+)?excluded\b|(?:['’]\p{L}{1,3})?\s+(?:olmadan|hariç|dışında|yerine)(?!\p{L})|\s+के\s+(?:बिना|अलावा))/giu
const minus = /(?<=^|\s)-(\p{L}[\p{L}\p{N}.]{2,})/gu
const excludedRun = String.raw`[\p{L}\p{N}.]{2,12}?`
/** Chinese names what it excludes after the cue, Japanese and Korean before it. */
const unspacedExclusions = [
  String.raw`[，,]?但?(?:不要用?|别用|不用|不使用|不想用|不含|(?<!是)不是|不通过)\s*(${excludedRun})(?=的|[^\p{L}\p{N}.]|$|(?<=[a-zA-Z0-9])\p{scx=Han})`,
  String.raw`非\s*([a-zA-Z][a-zA-Z0-9.]{1,19})`,
  String.raw`除了\s*(${excludedRun})(?:以外|之外|外)`,
  String.raw`(?<![\p{L}\p{N}])(${excludedRun})除外`,
  String.raw`([[\p{scx=Han}\p{scx=Kana}\p{sc=Latn}\p{N}.]--[\p{sc=Hira}]]{1,20})\s?(?:以外|を使わ(?:ない|ずに?)|を除[くい]た?|じゃない|ではない|でない|なし|抜き)`,
  String.raw`([\p{L}\p{N}.]{1,20}?)(?:[을를이가]|\s)?\s?(?:말고|제외(?:하고|한)?|빼고|없이|아닌|대신에?|안\s?쓰는)`,
].map((pattern) => new RegExp(pattern, 'gv'))
const mayBeUnspaced = /[\p{scx=Han}\p{scx=Kana}\p{scx=Hang}]/u

/** "is not working" states a problem and excludes nothing. */
const state = /^(?:\p{Ll}{3,}(?:ing|ed|able|ible)|sure|down|up|only|just|enough|too|there|yet|here)$/u

const days = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday'
const months = 'january|february|march|april|may|june|july|august|september|october|november|december'
const parts = 'morning|afternoon|evening|night|weekend|week|month|quarter|year'
const time = new RegExp(
  String.raw`\b(?:(?:by|on|until|till|before|after|since|next|last|this|every|each)\s+){1,3}(?:${days}|${months})\b|\b(?:next|last|this|every|each)\s+(?:${parts})\b`,
  'giu',
)

/** "Near the office" says where, and does not name what is called Near. */
const nearby = /\bnear(?=\s+(?:the|an?|my|our|your|by|home|work|\p{Lu}\p{Ll}))/gu

/** What a doer is not does not describe an agent: "I am not an expert". */
const final = new RegExp(
  String.raw`(?<!\b(?:am|do|does|did|can|could|will|would|should|have|has|had|i['’]m)\s+)\bnot\s+${excludedObject}(?=\s*[.!?]*$)`,
  'giu',
)

/** *RSS* and *API* are no names of products. */
const capitalised = /\p{Lu}\p{Ll}/u
const latin = /\p{sc=Latn}/u

/** "Alternatives to Google Maps" are like it, and not of Google: the first word is what is excluded. */
const alternatives = new RegExp(
  String.raw`(?:\b(?:alternativ\p{L}{0,3}\s+(?:to|for|zu[rm]?|für|al?|à|aux?|aos?)|(?:a\s+)?replacements?\s+for)|(?<!\p{L})альтернатив\p{L}{1,2})\s+${articles}(${word})`,
  'giu',
)

/** Reads a query. One that only excludes, or only states a time, asks for all its words. */
export function readRequest(text: string): Request {
  const query = text.slice(0, maxCharacters)
  const replaced = [...query.matchAll(alternatives)].flatMap(([, object = '']) => wordsOf(object))
  const named = query.replace(alternatives, ' $1')
  const { rest, objects, cues } = withoutExclusions(named, () => true)
  const words = new Set(wordsOf(rest))
  if (![...words].some((written) => !stopWords.has(written) && !cues.has(written)))
    return { intent: query, excluded: '' }
  const excluded = objects
    .flatMap(wordsOf)
    .filter((written) => !words.has(written) && !stopWords.has(written))
  const intent = objects.every(isName) ? rest : withoutExclusions(named, isName).rest
  return { intent, excluded: [...excluded, ...replaced].join(' ') }
}

/** What of a query was cut out, and what is left. */
interface Cut {
  readonly rest: string
  readonly objects: readonly string[]
  /** Words in other languages that stay in the rest without what they exclude. */
  readonly cues: ReadonlySet<string>
}

/** Cuts times out of a query, and what it excludes where `isCut` holds; *-word* and *word excluded* always. */
function withoutExclusions(query: string, isCut: (object: string) => boolean): Cut {
  const objects: string[] = []
  const cues = new Set<string>()
  const cut = (whole: string, object: string) => {
    if (state.test(object) || stopWords.has(fold(object))) return whole
    objects.push(object)
    return ' '
  }
  const cutSome = (whole: string, object: string) => (isCut(object) ? cut(whole, object) : whole)
  const spaced = query
    .replace(exclusion, cutSome)
    .replace(final, cutSome)
    .replace(exclusionElsewhere, (whole: string, cue: string, object: string) => {
      if (cutSome(whole, object) === whole) return whole
      for (const part of wordsOf(cue)) cues.add(part)
      return ` ${cue} `
    })
    .replace(excludedBefore, cut)
    .replace(minus, cut)
    .replace(time, ' ')
    .replace(nearby, ' ')
  const rest = mayBeUnspaced.test(spaced)
    ? unspacedExclusions.reduce((left, pattern) => left.replace(pattern, cutSome), spaced)
    : spaced
  return { rest, objects, cues }
}

/** Products are known by their names in Latin letters: what stands in others counts as a name. */
function isName(object: string): boolean {
  return capitalised.test(object) || !latin.test(object) || wordsOf(object).some(isProduct)
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}
