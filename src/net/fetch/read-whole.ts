import type { Readable } from 'node:stream'
import { createCollected } from './byte-buffer.ts'
import { turnBytes } from './yield-size.ts'

/**
 * The whole of a body. Rejects as the body does, or with what `tooLarge` makes with the first byte beyond `max_bytes`;
 * the rest is not read then.
 */
export function readWhole(body: Readable, max_bytes: number, tooLarge: () => Error): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const collected = createCollected()
    let inTurn = 0
    body.once('error', reject)
    body.once('close', () => reject(new Error('The body was closed.')))
    body.once('end', () => resolve(collected.bytes()))
    body.on('data', (chunk: Uint8Array) => {
      if (collected.length + chunk.length > max_bytes) return void body.destroy(tooLarge())
      collected.add(chunk)
      inTurn += chunk.length
      if (inTurn <= turnBytes) return
      inTurn = 0
      body.pause()
      setImmediate(() => body.resume())
    })
  })
}
