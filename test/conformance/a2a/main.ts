import { once } from 'node:events'
import { startGateway } from '../../support/gateway.ts'
import { serveScenarios } from './serve.ts'

// `npm run tck-server [-- PORT]`: an agent for a2aproject/a2a-tck until it is stopped.
await using home = await startGateway({}, { tasks: { times: { poll: 50 }, limits: limits() } })
await using served = await serveScenarios(home, Number(process.argv[2] ?? 0))
console.log(`run_tck.py --sut-host ${served.url} --transport jsonrpc,http_json`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

/** One caller leaves many tasks open. */
function limits() {
  const many = { unfinished: 10_000, total: 20_000, characters: 1024 ** 3 }
  return { owner: many, address: many, all: many }
}
