// A gateway over agents with every fault and one healthy agent; it reports its resources to its parent process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { startServer } from '../../src/app/server.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { mintToken } from '../../src/auth/issuer.ts'

const [faulty = '', healthy = '', kinds = '0', clockRate = '1', timeout_ms = '150'] = process.argv.slice(2)
const data = mkdtempSync(join(tmpdir(), 'dragoman-soak-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
process.on('disconnect', () => process.exit())

const clock = () => 1_800_000_000_000 + Math.round(performance.now() * Number(clockRate))
const gateway = await openGateway(
  readConfig({
    PORT: '0',
    DRAGOMAN_DATA: data,
    DRAGOMAN_RATE_LIMIT: 'off',
    DRAGOMAN_LOG: 'silent',
    DRAGOMAN_ALLOW_ORIGINS: `${faulty},${healthy}`,
  }),
  { clock, remote_timeout_ms: Number(timeout_ms) },
)
const server = await startServer(gateway)

const ask = (action: string, params: Record<string, unknown>) =>
  gateway.dispatch(
    { to: 'svc.registry', action, params },
    { principal: localPrincipal, client: 'local', signal: new AbortController().signal },
  )
async function list(package_name: string, endpoint: Endpoint): Promise<void> {
  await ask('publish', { package_name, name: package_name, description: 'An agent.', endpoints: [endpoint] })
  await ask('go_live', { agent: package_name })
}
await list('com.example.well', { protocol: 'envelope', url: `${healthy}/a2a/message` })
for (let kind = 0; kind < Number(kinds); kind++) {
  await list(`com.example.envelope-${kind}`, { protocol: 'envelope', url: `${faulty}/${kind}` })
  await list(`com.example.a2a-${kind}`, { protocol: 'a2a', url: `${faulty}/${kind}`, version: '1.0' })
  await list(`com.example.mcp-${kind}`, { protocol: 'mcp', url: `${faulty}/${kind}` })
}

process.on('message', async () => {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await pause(20)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const sockets = resources.filter((resource) => resource === 'TCPSocketWrap').length
  process.send?.({ heap: heapUsed + external, rss, sockets, handles: resources.length })
})
const { identity } = gateway
const audience = [identity.ring.name]
const grant = { subject: 'ada', scopes: ['a2a:call'], namespaces: [], audience, ttl_s: 10_000_000 } as const
const token = await mintToken(await identity.ring.signing(), identity.issuer, grant, clock)
process.send?.({ url: server.url, token })
