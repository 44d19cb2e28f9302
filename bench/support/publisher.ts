import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../../test/support/command.ts'
import { publishTo, writeAll } from './publications.ts'

/** What a node is asked to publish, from the number `first` on. */
export interface Publishing {
  readonly first: number
  readonly count: number
  readonly callers: number
}

/** A node that publishes what its parent asks for, and answers when it has. */
const folder = await temporaryFolder()
const config = readConfig({
  DRAGOMAN_DATA: folder.path,
  DRAGOMAN_LIVENESS: 'off',
  DATABASE_URL: process.env.DATABASE_URL,
})
const gateway = await openGateway(config, { log: createLogger('silent') })
await gateway.ready
const publish = publishTo(gateway)
process.on('message', async ({ first, count, callers }: Publishing) => {
  await writeAll(first, count, callers, publish)
  process.send?.('done')
})
process.on('disconnect', async () => {
  await gateway[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})
process.send?.('ready')
