/** A part of a text and its end. */
interface Slice {
  readonly text: string
  readonly end: number
}

/** A part ends at a paragraph or line only if it then uses this share of `maxLength`. */
const minShare = 0.7

/**
 * Up to `maxLength` characters from `start`: the rest of the text, or up to the end of a paragraph, else of a line,
 * near the maximum. Never ends within a surrogate pair.
 */
export function slice(text: string, start: number, maxLength: number): Slice {
  const end = Math.min(text.length, start + maxLength)
  if (end === text.length) return { text: text.slice(start), end }
  const earliest = start + Math.floor(maxLength * minShare)
  const stop = [text.lastIndexOf('\n\n', end - 2) + 2, text.lastIndexOf('\n', end - 1) + 1].find(
    (position) => position > earliest,
  )
  const isPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')
  const chosen = stop ?? (isPair ? end - 1 : end)
  return { text: text.slice(start, chosen), end: chosen }
}
