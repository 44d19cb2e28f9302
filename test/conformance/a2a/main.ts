import { once } from 'node:events'
import { startGateway } from '../../support/gateway.ts'
import { kitTasks, serveScenarios } from './serve.ts'
import { serveThrough } from './through.ts'

// `npm run tck-server [-- PORT [through]]`: an agent for a2aproject/a2a-tck until it is stopped, or that agent behind a
// gateway that lists it.
const [port = '0', way] = process.argv.slice(2)
await using stack = new AsyncDisposableStack()
const served = stack.use(
  way === 'through' ? await serveThrough(Number(port)) : await serveScenarios(await openHome(), Number(port)),
)
console.log(`run_tck.py --sut-host ${served.url} --transport jsonrpc,http_json`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

async function openHome() {
  return stack.use(await startGateway({}, { tasks: kitTasks }))
}
