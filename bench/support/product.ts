// The gateway as a subject: a fresh folder of synthetic entries, every transport open, all features on except
// rate limits.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { startServer } from '../../src/app/server.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { mintToken } from '../../src/auth/issuer.ts'
import { entryLines } from './entries.ts'
import { announce } from './measure.ts'

const data = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
const config = readConfig({
  PORT: '0',
  DRAGOMAN_DATA: data,
  DRAGOMAN_RATE_LIMIT: 'off',
  DRAGOMAN_LOG: 'info',
  DRAGOMAN_QUOTAS: 'off',
  ...(process.env.DATABASE_URL && { DATABASE_URL: process.env.DATABASE_URL }),
  DRAGOMAN_ALLOW_ORIGINS: process.env.DRAGOMAN_ALLOW_ORIGINS,
})
const gateway = await openGateway(config)
const lines = entryLines(Number(process.argv[2] ?? 1000))
const ask = (action: string, params: Record<string, unknown>) =>
  gateway.dispatch(
    { to: 'svc.registry', action, params },
    { principal: localPrincipal, client: 'local', signal: new AbortController().signal },
  )
for (let at = 0; at < lines.length; at += 500) {
  await ask('import_entries', { lines: lines.slice(at, at + 500) })
}
if (process.env.BENCH_LISTED) {
  const listed = JSON.parse(process.env.BENCH_LISTED)
  await ask('publish', listed)
  await ask('go_live', { agent: listed.package_name })
}
const server = await startServer(gateway)
const { identity } = gateway
const grant = {
  subject: 'bench',
  scopes: ['agents:read', 'agents:write', 'agents:publish', 'a2a:call'],
  namespaces: [],
  audience: [identity.ring.name],
  ttl_s: 86_400,
} as const
announce(server.url, await mintToken(await identity.ring.signing(), identity.issuer, grant, Date.now))
