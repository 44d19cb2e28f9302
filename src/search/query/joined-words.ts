import { stopWords } from './stop-words.ts'

/** The letters of scripts that separate words by spaces. */
const letters = /[\p{L}--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]]+/gv
/** Shorter words join to others by chance. */
const minLetters = 3
const maxWords = 64

/** Each two words of a text, one after the other, as one: "read a bar code" has `barcode`, as entries may write it. */
export function joinedWords(text: string): string[] {
  const words = text.toLowerCase().match(letters)?.slice(0, maxWords) ?? []
  return words.flatMap((second, at) => {
    const first = words[at - 1] ?? ''
    return mayJoin(first) && mayJoin(second) ? first + second : []
  })
}

/** "Tools for get requests" are not those that forget. */
function mayJoin(word: string): boolean {
  return word.length >= minLetters && !stopWords.has(word)
}
