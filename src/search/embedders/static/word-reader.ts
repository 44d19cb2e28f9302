import type { Lexicon } from './dictionary.ts'
import { latin, type Script, scripts } from './writing.ts'

export interface Word {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly script: Script
  readonly bytes: Uint8Array
  /** The id of the whole word in the lexicon; -1 if it has none. */
  readonly id: number
}

/** A plural of Spanish, Portuguese, French or Italian words. */
const plural = /(?<=[a-z]{4}[aeo])s$/
/** German letters as they are written where the keyboard has none. */
const digraphs = /([aou])e/g

/** Finds the words of a text, each as the form of it that the lexicon has. */
export function createWordReader(
  lexicon: Lexicon,
  isEnglish: (word: string) => boolean,
): (text: string) => Word[] {
  const { idOf, isTranslated } = lexicon
  const encoder = new TextEncoder()

  function readWord(text: string, start: number): Word | undefined {
    for (const script of scripts) {
      script.pattern.lastIndex = start
      const word = script.pattern.exec(text)?.[0]
      if (word === undefined) continue
      return {
        text: word,
        start,
        end: start + word.length,
        script,
        bytes: encoder.encode(word),
        id: idIn(script, word),
      }
    }
    return undefined
  }

  function idIn(script: Script, word: string): number {
    return script === latin ? idOfForms(word) : idOfInflected(word, script)
  }

  /** The id of a Latin word, or of a form without its ending, or of its form with umlauts; -1 if it has none. */
  function idOfForms(word: string): number {
    const id = idOf(word)
    if (id !== -1 || isEnglish(word)) return id
    const others = [word.replace(plural, ''), word.replace(digraphs, '$1')]
    const form = others.find((other) => other !== word && isForeignAlone(other))
    if (form !== undefined) return idOf(form)
    return listedForms(word, latin).find(isTranslated) ?? -1
  }

  /** The id of a word, or of the form of it that is listed; -1 if it has none. */
  function idOfInflected(word: string, script: Script): number {
    const id = idOf(word)
    if (isTranslated(id)) return id
    const forms = listedForms(word, script)
    return forms.find(isTranslated) ?? (id === -1 ? (forms[0] ?? -1) : id)
  }

  /** The ids of the forms of a word that are listed or have a row; of each inflection a translated one if there is one. */
  function listedForms(word: string, { inflections }: Script): number[] {
    return inflections.flatMap(({ affix, listed }) => {
      const stem = word.replace(affix, '')
      if (stem === word) return []
      const forms = listed.map((other) => idOf(`${stem}${other}`)).filter((form) => form !== -1)
      return forms.find(isTranslated) ?? forms.slice(0, 1)
    })
  }

  function isForeignAlone(word: string): boolean {
    return idOf(word) !== -1 && !isEnglish(word)
  }

  return (text) => {
    const found: Word[] = []
    for (let start = 0; start < text.length; ) {
      const word = readWord(text, start)
      if (word) found.push(word)
      start = word?.end ?? start + 1
    }
    return found
  }
}
