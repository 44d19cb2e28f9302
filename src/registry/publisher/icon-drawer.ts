import { Failure } from '../../../schemas/failure.ts'
import { iconSize } from '../../../schemas/publisher-file.ts'
import { inThread } from '../../common/in-thread.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import { pictureSize } from './picture-size.ts'

/** Draws a picture anew. Throws Failure `upstream_invalid` for what is no picture that it reads. */
export type DrawIcon = (bytes: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>

/** Pixels of a side. Four times as many bytes as pixels are allocated, a few times over. */
const maxSide = 2048
const maxThreads = 2
const maxWaiting = 100
const maxCpu_ms = 5_000

/**
 * Decodes pictures and encodes them as PNG, each in a thread of its own: a decoder that fails, hangs or fills its memory
 * takes nothing else along.
 */
export function createIconDrawer(worker: URL): DrawIcon {
  const busy = () => new Failure('unavailable', 'Too many pictures wait to be drawn.', { retry_after_s: 5 })
  const acquire = createSemaphore(maxThreads, maxWaiting, busy)
  return async (bytes, signal) => {
    const size = pictureSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (!size) throw unreadable('It is no PNG, JPEG, GIF or unanimated WebP.')
    if (Math.max(size.width, size.height) > maxSide || Math.min(size.width, size.height) < 1) {
      throw unreadable(`It has ${size.width} × ${size.height} pixels; at most ${maxSide} × ${maxSide}.`)
    }
    using _slot = await acquire(signal)
    try {
      return await inThread<Uint8Array>(worker, { bytes, side: iconSize }, maxCpu_ms)
    } catch (fault) {
      throw unreadable('It is damaged, or too large.', fault)
    }
  }
}

function unreadable(why: string, cause?: unknown): Failure {
  return new Failure('upstream_invalid', `The icon cannot be drawn. ${why}`, {}, cause)
}
