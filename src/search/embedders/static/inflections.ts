/** A way in which words of a language change: what falls off, and how the dictionary lists what is left. */
export interface Inflection {
  readonly affix: RegExp
  /** The endings of listed words, the likeliest first. */
  readonly listed: readonly string[]
}

function latin(least: number, endings: string, listed: string): Inflection {
  const affix = new RegExp(`(?<=[a-zßæøœıđł]{${least}})(?:${endings.replaceAll(' ', '|')})$`)
  return { affix, listed: ['', ...listed.split(' ')] }
}

/** Endings without accents, as all words are read. */
export const latinInflections: readonly Inflection[] = [
  // German nouns, adjectives and plurals.
  latin(4, 'e en er es em ern n s', ''),
  // Verbs of German and the Romance languages.
  latin(
    4,
    'a e i o u as es is os am an em en ai ei eu io iu ou on ons ez ent ait ais aient amos emos imos iamo ate ete ite ano ono ando endo indo iendo ant ado ada ados adas ido ida idos idas ato ata ati ito ita iti uto ute aste iste aron ieron aram eram iram aba abas ava avo iam ian st t te ten',
    'ar er ir re are ere ire en',
  ),
  // Dutch and the Scandinavian languages.
  latin(4, 'tje tjes je jes et ar or arna erna orna ene erne ne eren ers na t', 'a e en'),
  // Nouns and adjectives of Polish and Czech.
  latin(
    4,
    'a y i e u o ow om ami ach em owi ie iem ia iu ego ej emu ym ych ymi im ich imi ova ove ovi um ech ich iho imu ou',
    'a e o y i ie ia ka ek ny ni',
  ),
  // Verbs of Polish and Czech in the past and the present.
  latin(3, 'l la lo li ly lem lam les uje uja uji uju ujesz ujes ujemy', 'c t ac at owac ovat ic it'),
  // Verbs of Turkish.
  latin(
    3,
    '(?:(?:y?[ae]bil|[iıuü]yor|[dt][iıu]|m[iıu]s|y?[ae]c[ae][kg]|[iıua]r|s[ae])[a-zı]{0,4}|m[ae]y?[iıae]?|[iıu]n|d[iıu]k[a-zı]{0,4})',
    'mek mak',
  ),
  // Turkish: plural, possession and case.
  latin(
    3,
    '(?:l[ae]r)?(?:[iıu]m[iıu]z|[iıu]n[iıu]z|[iıu]?m|[iıu]n|s[iıu]|[iıu])?(?:n?[dt][ae]n?|[yn]?[aeiıu]|n?[iıu]n|[yn]?l[ae])? l[ae]r',
    '',
  ),
  // Indonesian.
  latin(4, 'nya ku mu lah kah', ''),
]

/** `й` is read as `и`, and `ї` as `і`. */
export const cyrillicInflections: readonly Inflection[] = [
  // Nouns and adjectives in their cases.
  {
    affix:
      /(?<=[\u0430-\u0491]{3})(?:[аеиіоуыюяє]|[аоыяі]х|[аоеыиі][ми]|[аяыиі]ми|[оеіє]в|[оеыи]е|[уюо]ю|[ая]я|[ое]го|ому)$/,
    listed: ['а', 'я', 'ь', '', 'ы', 'и', 'е', 'о', 'ия', 'ие', 'ыи', 'ии', 'ои', 'і', 'іи'],
  },
  // Verbs in the past, of which dictionaries list the infinitive.
  { affix: /(?<=[\u0430-\u0491]{3})(?:л[аоиі]?|в)$/, listed: ['ть', 'ти'] },
]

/** Forms of verbs, then plurals and cases of nouns. */
export const hindiInflections: readonly Inflection[] = [
  {
    affix: /(?<=[\u0900-\u097f]{2})(?:ने|नी|ता|ते|ती|कर|ूं|ऊं|ओ|ो|ें|एं|े|ा|ी|िए|इए|ए|ना)$/,
    listed: ['ना', 'ा', ''],
  },
  { affix: /(?<=[\u0900-\u097f]{2})(?:ियों|ियां|ाओं|ाएं|ओं|ों|ें|े|ी|ा)$/, listed: ['', 'ा', 'ी', 'े', 'ि'] },
]

/** Articles, conjunctions and prepositions, which are written with the word, and possession. */
const arabicPrefix = '^[وف]?(?:ال|بال|كال|لل)(?=.{2})|^[وف]?[بلك](?=.{3})|^[وف](?=.{3})'
const arabicSuffix = '(?<=.{3})(?:ي|ه|ها|هم|هما|نا|ك|كم|ات|ين|ون|ة)$'
export const arabicInflections: readonly Inflection[] = [
  arabicPrefix,
  arabicSuffix,
  `${arabicPrefix}|${arabicSuffix}`,
].map((affixes) => ({ affix: new RegExp(affixes, 'g'), listed: ['', 'ة', 'ات'] }))
