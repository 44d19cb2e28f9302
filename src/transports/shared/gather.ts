import type { Writable } from 'node:stream'

/**
 * What is written to the stream before the next tick leaves in one system call: messages that arrive together are
 * answered together. `onLeft` is called after it.
 */
export function gather(output: Writable, onLeft?: () => void): void {
  if (output.writableCorked > 0) return
  output.cork()
  process.nextTick(() => {
    output.uncork()
    onLeft?.()
  })
}
