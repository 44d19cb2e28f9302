// A gateway as an operator starts it, with all limits on, that reports its CPU time, memory and event loop delay.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { startServer } from '../../src/app/server.ts'
import { mintToken } from '../../src/auth/issuer.ts'

const data = mkdtempSync(join(tmpdir(), 'dragoman-attacks-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
process.on('disconnect', () => process.exit())
const config = readConfig({
  PORT: '0',
  DRAGOMAN_DATA: data,
  DRAGOMAN_LOG: 'silent',
  DRAGOMAN_LIVENESS: 'off',
})
const gateway = await openGateway(config)
await gateway.ready
const server = await startServer(gateway, { connections: { stall_ms: 2000 } })
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

/** The figures since the last message. */
process.on('message', (what) => {
  if (what === 'memory') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send?.({
    cpu_ms: (user + system) / 1000,
    rss: process.memoryUsage().rss,
    delay_ms: delay.max / 1e6,
  })
  delay.reset()
})

const { ring, issuer } = gateway.identity
const scopes = ['agents:read', 'a2a:call'] as const
const grant = { subject: 'ada', scopes: [...scopes], namespaces: [], audience: [ring.name], ttl_s: 3600 }
process.send?.({ url: server.url, token: await mintToken(await ring.signing(), issuer, grant, Date.now) })
