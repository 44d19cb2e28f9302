// A gateway that changes its entries on request of its parent process, and reports its resources.
import { setTimeout as pause } from 'node:timers/promises'
import { sampleEntry } from '../support/entries.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway({}, { changes: { followers: { all: 5000, address: 5000 } } })
process.on('disconnect', async () => {
  await home[Symbol.asyncDispose]()
  process.exit()
})
const { store, tailer } = home.gateway
const entry = sampleEntry({ description: 'Does something. '.repeat(20) })

process.on('message', async (changes: number) => {
  let revision = 0
  for (let count = 0; count < changes; count++) {
    const name = `Number ${count}`
    revision = (await store.write((writer) => writer.put({ ...entry, name }))).revision
    await tailer.caughtUp(revision)
  }
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    await pause(10)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter((item) => item === 'TCPSocketWrap').length
  process.send?.({ revision, heap: heapUsed + external, rss, sockets })
})
process.send?.({ url: home.url })
