import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

interface Peer extends AsyncDisposable {
  /** The text that the other extractor finds in a gzipped page; `ms` excludes the decoding. */
  read(file: string): Promise<{ readonly text: string; readonly ms: number }>
}

/** Runs Trafilatura in a separate process with this interpreter. */
export function startPeer(python: string): Peer {
  const child = spawn(python, [fileURLToPath(new URL('peer.py', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async read(file) {
      child.stdin.write(`${file}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('The other extractor has ended.')
      return JSON.parse(value)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
