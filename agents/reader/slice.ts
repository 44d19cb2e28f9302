/** A stretch of a text and where it ends. */
interface Slice {
  readonly text: string
  readonly end: number
}

/** At least this share of the room is used before a stretch ends at a better place than its last character. */
const minShare = 0.7

/**
 * Up to `room` characters from `start`: all that is left, or up to the end of a paragraph, else of a
 * line, near the end of the room. Never ends within a surrogate pair.
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
