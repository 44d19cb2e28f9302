// A gateway over a data folder that fills up: run with the folder; prints what became of it as JSON.

import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { createLogger } from '../../src/telemetry/log.ts'

const { signal } = new AbortController()
const config = readConfig({ PORT: '0', DRAGOMAN_DATA: process.argv[2], DRAGOMAN_VECTORS: process.argv[3] })
const log = createLogger('silent')
const call = { principal: localPrincipal, client: 'local' as const, signal }

async function fill() {
  await using gateway = await openGateway(config, { log })
  let code: unknown
  let listed = 0
  for (let round = 0; code === undefined && round < 400; round++) {
    const lines = Array.from({ length: 20 }, (_, at) =>
      JSON.stringify({
        name: `Agent ${round}-${at}`,
        description: `Weather forecast ${round} ${at}. ${'x'.repeat(300)}`,
        url: `https://example.com/${round}-${at}`,
      }),
    )
    const envelope = { to: 'svc.registry', action: 'import_entries', params: { lines } }
    await gateway.dispatch(envelope, call).then(
      () => {
        listed += 20
      },
      (fault: { code?: string }) => {
        code = fault.code
      },
    )
  }
  const { output } = await gateway.dispatch(
    { to: 'svc.registry', action: 'search', params: { query: 'weather', limit: 1 } },
    call,
  )
  return { code, listed, total: (output as { total: number }).total }
}

const full = await fill()
await using again = await openGateway(config, { log })
await again.tailer.ready
const { output } = await again.dispatch(
  { to: 'svc.registry', action: 'search_agents', params: { query: 'weather', limit: 1 } },
  call,
)
const { total } = output as { total: number }
process.stdout.write(JSON.stringify({ ...full, after_restart: total }))
// The folder stays full, so queued texts would wait without end.
process.exit()
