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
  const secrets = Object.entries(env)
    .filter(([, value]) => value.length >= minSecret)
    .sort(([, a], [, b]) => b.length - a.length)
  let text = ''
  return {
    add(chunk: string): void {
      text += chunk
      if (text.length <= 2 * maxTail) return
      // Whole lines go, so that no part of a secret is left at the cut.
      const cut = text.indexOf('\n', text.length - maxTail)
      text = cut === -1 ? '' : text.slice(cut + 1)
    },
    read(): string {
      let shown = text
      for (const [name, value] of secrets) shown = shown.replaceAll(value, `[${name}]`)
      return shown.slice(-maxTail)
    },
  }
}
