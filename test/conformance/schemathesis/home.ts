import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../../src/app/config.ts'
import { type Gateway, openGateway } from '../../../src/app/gateway.ts'
import type { GatewayOptions } from '../../../src/app/runtime.ts'
import { startServer } from '../../../src/app/server.ts'
import { mintToken } from '../../../src/auth/issuer.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { everyScope, pricesFrom, signerOf } from '../../support/gateway.ts'
import { openWorld } from './world.ts'

const owners = ['alice', 'bob'] as const
type Owner = (typeof owners)[number]

/** A gateway that schemathesis may attack, with agents of two owners in it. */
export interface Home extends AsyncDisposable {
  readonly url: string
  /** A page that its reader may read. */
  readonly page: string
  readonly tokens: Readonly<Record<Owner, string>>
}

/** Opens it over a fresh folder. `compose` may plant a fault between the gateway and its transports. */
export async function openHome(compose: (gateway: Gateway) => Gateway = (gateway) => gateway): Promise<Home> {
  await using stack = new AsyncDisposableStack()
  const data = await mkdtemp(join(tmpdir(), 'dragoman-schemathesis-'))
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const services = stack.use(await openWorld())
  const config = readConfig({
    PORT: '0',
    DRAGOMAN_DATA: data,
    DRAGOMAN_CHECK_OUTPUTS: 'on',
    DRAGOMAN_RATE_LIMIT: 'off',
    DRAGOMAN_QUOTAS: 'off',
    DRAGOMAN_CONTACT: 'tests@example.org',
    DRAGOMAN_WIKI_URL: `${services.url}/w/api.php`,
    ...pricesFrom(services.url),
    DRAGOMAN_YAHOO_URL: services.url,
    DRAGOMAN_FINNHUB_KEY: 'test',
    DRAGOMAN_ALLOW_ORIGINS: services.url,
  })
  const options = { log: createLogger('error'), lookup: toLoopback, resolveTxt: async () => [] }
  const gateway = stack.use(await openGateway(config, options))
  const server = stack.use(await startServer(compose(gateway)))
  const { key, issuer } = await signerOf({ gateway })
  const tokens = Object.fromEntries(
    await Promise.all(
      owners.map(async (subject) => {
        const grant = { subject, scopes: everyScope, namespaces: [], audience: [issuer], ttl_s: 3600 }
        return [subject, await mintToken(key, issuer, grant, Date.now)]
      }),
    ),
  ) as Record<Owner, string>
  for (const owner of owners) await publishAgents(server.url, owner, tokens[owner])
  const opened = stack.move()
  return { url: server.url, page: services.page, tokens, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Every name leads here, where the guard lets nobody: a URL that was made up is refused without a name server. */
const toLoopback: NonNullable<GatewayOptions['lookup']> = (_name, _options, done) =>
  done(null, [{ address: '127.0.0.1', family: 4 }])

/** Four agents of an owner: two in STAGE, two that everybody finds. */
async function publishAgents(url: string, owner: Owner, token: string): Promise<void> {
  for (const name of ['draft', 'plan', 'weather', 'mail']) {
    const package_name = `com.${owner}.${name}`
    await post(`${url}/api/agents/publish`, token, {
      package_name,
      name: `${name} of ${owner}`,
      description: `Helps with ${name}.`,
      tags: [name],
      endpoints: [{ protocol: 'a2a', url: `https://${name}.${owner}.example/a2a` }],
    })
    if (name === 'draft' || name === 'plan') continue
    await post(`${url}/api/agents/${package_name}/go-live`, token, {})
  }
}

async function post(url: string, token: string, body: unknown): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
}
