import { stdout } from 'node:process'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Failure } from '../../../../schemas/failure.ts'
import { loadLibrary } from './library.ts'
import type { Order, Setup, ThreadAnswer } from './messages.ts'
import { type Encode, loadModel } from './model.ts'
import { readModelFolder } from './model-folder.ts'

// Standard output may carry a protocol, so the output of the package is dropped.
stdout.write = () => true

if (parentPort) await serve(parentPort, workerData)

/** Loads the model and embeds texts until the message null; see messages.ts. */
async function serve(port: MessagePort, { folder: path, extras, threads }: Setup): Promise<void> {
  try {
    const folder = await readModelFolder(path)
    const encode = await loadModel(loadLibrary(extras), folder, threads)
    const { name, dimensions } = folder
    port.on('message', (order: Order) => {
      if (order === null) port.close()
      else void answer(port, encode, order)
    })
    port.postMessage({ model: { name, dimensions } } satisfies ThreadAnswer)
  } catch (thrown) {
    const { message, details, cause } = Failure.from(thrown)
    port.postMessage({ refused: { message, ...details, cause: textOf(cause) } } satisfies ThreadAnswer)
  }
}

async function answer(port: MessagePort, encode: Encode, texts: readonly string[]): Promise<void> {
  try {
    const vectors = await encode(texts)
    port.postMessage({ vectors } satisfies ThreadAnswer, [vectors.buffer])
  } catch (thrown) {
    port.postMessage({ error: textOf(thrown) } satisfies ThreadAnswer)
  }
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
