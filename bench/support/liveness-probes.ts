// A gateway whose clock advances by an hour at each request, one beat at a time, and which makes the probes
// that are due.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { sampleEntry } from '../../test/support/entries.ts'
import { cardAddresses } from './card-addresses.ts'
import { announce } from './measure.ts'

const [site = '', count = '0'] = process.argv.slice(2)
const data = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
const addresses = cardAddresses(site, Number(count))
const config = readConfig({
  PORT: '0',
  DRAGOMAN_DATA: data,
  DRAGOMAN_ALLOW_ORIGINS: [...new Set(addresses.map(({ origin }) => origin))].join(),
})
let now = Date.now()
const gateway = await openGateway(config, { clock: () => now, liveness: { gap_ms: 1 } })
await gateway.store.write(async (writer) => {
  for (const { origin, path } of addresses) {
    const url = `${origin}${path}`
    await writer.put(
      sampleEntry({
        name: url,
        manifest_url: url,
        endpoints: [{ protocol: 'envelope', url: `${url}/agent` }],
      }),
    )
  }
})
const { signal } = new AbortController()
const { prober } = gateway.liveness
const beat_ms = 10_000

/** Advances the clock beat by beat; returns the number of probes. */
async function pass(milliseconds: number): Promise<number> {
  let probes = 0
  for (const end = now + milliseconds; now < end; now += beat_ms) {
    if (await prober.isDue()) probes += await prober.run(signal)
  }
  return probes
}

// The first pass probes every agent at once; after another hour the probes are spread as they stay from then
// on.
await pass(60 * 60_000)
await gateway.tailer.caughtUp(await gateway.store.read.revision())
await gateway.vectors.caughtUp(await gateway.store.read.revision())
const server = createServer(async (_, response) => {
  response.end(String(await pass(60 * 60_000)))
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
