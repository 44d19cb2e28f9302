import { text } from 'node:stream/consumers'
import { loadSigningKey } from '../support/authenticator.ts'

// A process that waits for the end of its input, loads the key at a path and prints its kid.
process.stdout.write('waiting\n')
await text(process.stdin)
process.stdout.write(`${(await loadSigningKey(process.argv[2] ?? '')).kid}\n`)
