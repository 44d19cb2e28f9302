import { Transform } from 'node:stream'

const window_ms = 100

/** Passes bytes on, at most so many a second on average; the writer waits. */
export function pace(bytes_per_s: number): Transform {
  const budget = (bytes_per_s * window_ms) / 1000
  let sent = 0
  let isOpen = false
  let waiting: (() => void) | undefined

  function nextWindow(): void {
    sent = Math.max(0, sent - budget)
    isOpen = sent > 0
    if (isOpen) setTimeout(nextWindow, window_ms).unref()
    if (sent < budget) {
      waiting?.()
      waiting = undefined
    }
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      sent += chunk.length
      if (!isOpen) setTimeout(nextWindow, window_ms).unref()
      isOpen = true
      this.push(chunk)
      if (sent < budget) done()
      else waiting = done
    },
  })
}

const maxTail = 8 * 1024
const minSecret = 6

/** Keeps the last lines of standard error and shows them without the values of the environment. */
export function createTail(env: Readonly<Record<string, string>>) {
  // By lines: where the text is cut, a line of a value may be all that is left of it.
  const secrets = Object.entries(env)
    .flatMap(([name, value]) => value.split(/\r?\n/).map((line) => [name, line] as const))
    .filter(([, line]) => line.length >= minSecret)
    .sort(([, a], [, b]) => b.length - a.length)
  let text = ''
  /** True after a cut within a line, whose rest may end a secret. */
  let isSkipping = false
  return {
    add(chunk: string): void {
      text += isSkipping ? (afterLine(chunk) ?? '') : chunk
      isSkipping &&= !chunk.includes('\n')
      if (text.length <= 2 * maxTail) return
      // Whole lines go, so that no part of a secret is left at the cut.
      const rest = afterLine(text, text.length - maxTail)
      isSkipping = rest === undefined
      text = rest ?? ''
    },
    read(): string {
      let shown = text
      for (const [name, line] of secrets) shown = shown.replaceAll(line, `[${name}]`)
      return shown.slice(-maxTail)
    },
  }
}

/** What follows the line at a position; undefined if the line has no end. */
function afterLine(text: string, position = 0): string | undefined {
  const end = text.indexOf('\n', position)
  return end === -1 ? undefined : text.slice(end + 1)
}
