const word = /\p{L}+/gu
/** Shorter words join to others by chance. */
const minLetters = 3
const maxWords = 64

/** Each two words of a text, one after the other, as one: "read a bar code" has `barcode`, as entries may write it. */
export function joinedWords(text: string): string[] {
  const words = text.toLowerCase().match(word)?.slice(0, maxWords) ?? []
  return words.flatMap((second, at) => {
    const first = words[at - 1] ?? ''
    return first.length >= minLetters && second.length >= minLetters ? first + second : []
  })
}
