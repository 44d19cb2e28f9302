import { createServer } from 'node:net'
import { listen } from '../../src/transports/shared/listen.ts'

/** A port of 127.0.0.1 on which nothing listens at this moment, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  await using server = createServer()
  return await listen(server, { host: '127.0.0.1', port: 0, hint: 'Close the other server.' })
}
