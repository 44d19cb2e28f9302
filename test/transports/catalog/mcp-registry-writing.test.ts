import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { serveDns } from '../../support/dns.ts'
import { startGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'

const official = 'io.modelcontextprotocol.registry/official'
const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

const dns = await serveDns()
const home = await startGateway({ DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_NAMES: 'proof' })
afterAll(() => dns[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

const post = (path: string, body: unknown, token?: string) => home.request('POST', path, { body, token })
const versionPath = (name: string, version: string) =>
  `/v0/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`

/** The raw public key at the end of its SubjectPublicKeyInfo, in base64. */
function rawKey(key: KeyObject, length: number): string {
  return key.export({ format: 'der', type: 'spki' }).subarray(-length).toString('base64')
}

/** The signed present time, as the publisher command sends it. */
function signedTime(domain: string, key: KeyObject, at = Date.now()) {
  const timestamp = `${new Date(at).toISOString().slice(0, 19)}Z`
  const isElliptic = key.asymmetricKeyType === 'ec'
  const signature = sign(
    isElliptic ? 'sha384' : null,
    Buffer.from(timestamp),
    isElliptic ? { key, dsaEncoding: 'ieee-p1363' } : key,
  )
  return { domain, timestamp, signed_timestamp: signature.toString('hex') }
}

const ed25519 = generateKeyPairSync('ed25519')

/** A token for the namespace of a domain whose record holds the key. */
async function logIn(domain: string): Promise<string> {
  dns.txt(domain, 'v=spf1 -all', `v=MCPv1; k=ed25519; p=${rawKey(ed25519.publicKey, 32)}`)
  const { json, status, text } = await post('/v0/auth/dns', signedTime(domain, ed25519.privateKey))
  expect(status, text).toBe(200)
  expect(json.expires_at - Date.now() / 1000).toBeGreaterThan(200)
  return json.registry_token
}

const documentOf = (name: string, version = '1.0.0') => ({
  $schema: schema,
  name,
  title: 'Tool',
  description: 'Counts the stars of a night sky.',
  version,
  remotes: [{ type: 'streamable-http', url: 'https://tool.pub.org/mcp' }],
  _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { tool: 'test' } },
})

describe('login by a domain', () => {
  test('takes a key of elliptic curve P-384 in compressed form', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const isOdd = (Buffer.from(y, 'base64url').at(-1) ?? 0) % 2 === 1
    const point = Buffer.concat([Buffer.from([isOdd ? 3 : 2]), Buffer.from(x, 'base64url')])
    dns.txt('curve.org', `v=MCPv1; k=ecdsap384; p=${point.toString('base64')}`)
    expect((await post('/v0/auth/dns', signedTime('curve.org', privateKey))).status).toBe(200)
    const other = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    expect((await post('/v0/auth/dns', signedTime('curve.org', other.privateKey))).status).toBe(401)
  })

  test('refuses another key, another time, a domain without a record and one that nobody holds', async () => {
    dns.txt('pub.org', `v=MCPv1; k=ed25519; p=${rawKey(ed25519.publicKey, 32)}`)
    const stranger = generateKeyPairSync('ed25519').privateKey
    const { privateKey } = ed25519
    const cases = [
      [signedTime('pub.org', stranger), 401],
      [signedTime('pub.org', privateKey, Date.now() - 20_000), 401],
      [signedTime('pub.org', privateKey, Date.now() + 20_000), 401],
      [{ ...signedTime('pub.org', privateKey), signed_timestamp: 'zz' }, 422],
      [signedTime('github.io', privateKey), 422],
      [signedTime('localhost', privateKey), 422],
      [{ domain: 'pub.org' }, 422],
    ] as const
    for (const [body, status] of cases) {
      const answer = await post('/v0/auth/dns', body)
      expect([body, answer.status]).toEqual([body, status])
    }
    dns.txt('bare.org', 'v=spf1 -all')
    expect((await post('/v0/auth/dns', signedTime('bare.org', privateKey))).status).toBe(401)
  })

  test('lets nobody publish without a proof, unless the operator allows it', async () => {
    expect((await post('/v0/auth/none', {})).json.code).toBe('not_configured')
    await using open = await startGateway({ DRAGOMAN_MCP_ANONYMOUS: 'on' })
    const { json } = await open.request('POST', '/v0/auth/none')
    const name = 'io.modelcontextprotocol.anonymous/tool'
    const token = json.registry_token
    const published = await open.request('POST', '/v0/publish', { body: documentOf(name), token })
    expect(published.status, published.text).toBe(200)
    const foreign = documentOf('com.example/other')
    expect((await open.request('POST', '/v0/publish', { body: foreign, token })).status).toBe(200)
  })

  test('exchanges the token of a trusted issuer for itself', async () => {
    const oidc_token = await home.token('somebody')
    const { json, status } = await post('/v0/auth/github-oidc', { oidc_token })
    expect([status, json.registry_token]).toEqual([200, oidc_token])
    expect((await post('/v0/auth/github-oidc', { oidc_token: 'forged' })).status).toBe(401)
  })
})

describe('publishing by server.json', () => {
  test('lists a version at once, as it was stated', async () => {
    const token = await logIn('pub.org')
    const document = documentOf('org.pub/star-counter')
    const { status, json, text } = await post('/v0/publish', document, token)
    expect(status, text).toBe(200)
    expect(json.server).toEqual(document)
    expect(json._meta[official]).toMatchObject({ status: 'active', isLatest: true })
    const read = await home.request('GET', versionPath(document.name, '1.0.0'))
    expect(read.json.server).toEqual(document)
    const found = await home.request('GET', '/v0.1/servers?search=star+gazing&version=latest')
    expect(found.json.servers[0].server.name).toBe(document.name)
    const entry = await home.request('GET', '/api/agents/org.pub%2Fstar-counter')
    expect(entry.json).toMatchObject({ name: 'Tool', version: '1.0.0', state: 'ACTIVE' })
  })

  test('a version is immutable, and the highest one is the latest', async () => {
    const token = await logIn('pub.org')
    const name = 'org.pub/versions'
    for (const version of ['1.9.0', '1.10.0']) {
      expect((await post('/v0/publish', documentOf(name, version), token)).status).toBe(200)
    }
    const again = await post('/v0/publish', { ...documentOf(name, '1.9.0'), title: 'Other' }, token)
    expect([again.status, again.json.code]).toEqual([400, 'conflict'])
    const { json } = await home.request('GET', `/v0/servers/${encodeURIComponent(name)}/versions/latest`)
    expect(json.server.version).toBe('1.10.0')
  })

  test('takes a server that states neither a remote nor a package', async () => {
    const { remotes: _, ...document } = documentOf('org.pub/embedded')
    const { status, json, text } = await post('/v0/publish', document, await logIn('pub.org'))
    expect(status, text).toBe(200)
    expect(json).toMatchObject({
      server: document,
      _meta: { 'io.github.dragoman/registry': { is_bridged: false } },
    })
  })

  test('needs a token, the right to the name, and a document without problems', async () => {
    const token = await logIn('pub.org')
    expect((await post('/v0/publish', documentOf('org.pub/tool'))).status).toBe(401)
    expect((await post('/v0/publish', documentOf('org.other/tool'), token)).status).toBe(403)
    await post('/v0/publish', documentOf('org.other/tool'), await logIn('other.org'))
    expect((await post('/v0/publish', documentOf('org.other/tool', '2.0.0'), token)).status).toBe(403)
    const wrong = await post('/v0/publish', { ...documentOf('org.pub/tool'), description: '' }, token)
    expect([wrong.status, wrong.json.errors[0].location]).toEqual([422, 'body.description'])
  })

  test('continues an agent whose dotted name has the same name there', async () => {
    const token = await logIn('dotted.org')
    await list(
      home,
      {
        package_name: 'org.dotted.tool',
        endpoints: [{ protocol: 'mcp', url: 'https://tool.dotted.org/mcp' }],
      },
      token,
    )
    const { json, status, text } = await post('/v0/publish', documentOf('org.dotted/tool', '2.0.0'), token)
    expect(status, text).toBe(200)
    expect(json._meta['io.github.dragoman/registry'].package_name).toBe('org.dotted.tool')
    const { servers } = (await home.request('GET', '/v0/servers/org.dotted%2Ftool/versions')).json
    expect(servers).toHaveLength(2)
  })
})

describe('an agent that is not listed', () => {
  test('goes live with the version that its owner publishes, unless it is suspended', async () => {
    const token = await logIn('stage.org')
    const body = {
      package_name: 'org.stage/tool',
      name: 'Tool',
      description: 'A tool.',
      endpoints: [{ protocol: 'mcp', url: 'https://tool.stage.org/mcp' }],
    }
    const { json } = await post('/api/agents/publish', body, token)
    expect(json.state).toBe('STAGE')
    expect((await home.request('GET', '/v0/servers/org.stage%2Ftool/versions')).status).toBe(404)
    const published = await post('/v0/publish', documentOf('org.stage/tool'), token)
    expect(published.status, published.text).toBe(200)
    const admin = await home.token('root', { scopes: ['admin'] })
    const suspension = { suspended: true, reason: 'It is a test.' }
    expect((await post(`/api/agents/${json.id}/suspend`, suspension, admin)).status).toBe(200)
    const refused = await post('/v0/publish', documentOf('org.stage/tool', '2.0.0'), token)
    expect(refused.json.code).toBe('suspended')
    const status = await home.request('PATCH', '/v0/servers/org.stage%2Ftool/status', {
      body: { status: 'deprecated' },
      token,
    })
    expect(status.json.code).toBe('suspended')
    const shown = await home.request('GET', '/v0/servers?search=org.stage&include_deleted=true')
    expect(shown.json.servers).toMatchObject([{ server: { description: 'No longer listed.' } }])
  })

  test('that its owner changes by another API has a document made of its fields', async () => {
    const token = await logIn('pub.org')
    const name = 'org.pub/changed'
    expect((await post('/v0/publish', documentOf(name), token)).status).toBe(200)
    const change = { description: 'Counts planets.', version: '1.1.0' }
    const { json } = await home.request('GET', '/public/agents/org.pub%2Fchanged')
    const updated = await home.request('PUT', `/api/agents/${json.id}`, { body: change, token })
    expect(updated.status, updated.text).toBe(200)
    const latest = await home.request('GET', versionPath(name, 'latest'))
    expect(latest.json.server).toMatchObject(change)
    const first = await home.request('GET', versionPath(name, '1.0.0'))
    expect(first.json.server).toEqual(documentOf(name))
  })
})

describe('the status of a server', () => {
  const patch = (path: string, body: unknown, token: string) => home.request('PATCH', path, { body, token })

  test('of a version changes that version, and the latest one is a version that is left', async () => {
    const token = await logIn('pub.org')
    const name = 'org.pub/life'
    for (const version of ['1.0.0', '2.0.0']) await post('/v0/publish', documentOf(name, version), token)
    const path = versionPath(name, '2.0.0')
    const { status, json, text } = await patch(
      `${path}/status`,
      { status: 'deleted', statusMessage: 'It leaks.' },
      token,
    )
    expect(status, text).toBe(200)
    expect(json._meta[official]).toMatchObject({
      status: 'deleted',
      statusMessage: 'It leaks.',
      isLatest: false,
    })
    expect((await home.request('GET', path)).status).toBe(404)
    expect((await home.request('GET', `${path}?include_deleted=true`)).json.server.version).toBe('2.0.0')
    const latest = await home.request('GET', versionPath(name, 'latest'))
    expect(latest.json.server.version).toBe('1.0.0')
    const same = await patch(`${path}/status`, { status: 'deleted', statusMessage: 'It leaks.' }, token)
    expect(same.status).toBe(400)
    const restored = await patch(`${path}/status`, { status: 'active' }, token)
    expect(restored.json._meta[official]).toMatchObject({ status: 'active', isLatest: true })
  })

  test('of all versions deprecates the agent, hides it, and shows it again', async () => {
    const token = await logIn('pub.org')
    const name = 'org.pub/all'
    for (const version of ['1.0.0', '2.0.0']) await post('/v0/publish', documentOf(name, version), token)
    const path = `/v0/servers/${encodeURIComponent(name)}/status`
    const agent = () => home.request('GET', '/public/agents/org.pub%2Fall')
    const deprecated = await patch(path, { status: 'deprecated', statusMessage: 'Use another.' }, token)
    expect(deprecated.json).toMatchObject({ updatedCount: 2 })
    expect((await agent()).json.deprecated).toMatchObject({ message: 'Use another.' })
    const deleted = await patch(path, { status: 'deleted' }, token)
    expect(deleted.json.updatedCount).toBe(2)
    expect((await agent()).status).toBe(404)
    const all = `/v0/servers/${encodeURIComponent(name)}/versions`
    expect((await home.request('GET', all)).status).toBe(404)
    expect((await home.request('GET', `${all}?include_deleted=true`)).json.servers).toHaveLength(2)
    expect((await patch(path, { status: 'active' }, token)).json.updatedCount).toBe(2)
    expect((await agent()).json).toMatchObject({ state: 'ACTIVE', deprecated: null })
    expect((await home.request('GET', all)).json.servers).toHaveLength(2)
  })

  test('is changed only by who may change the agent, to a status that exists', async () => {
    const name = 'org.pub/mine'
    const token = await logIn('pub.org')
    await post('/v0/publish', documentOf(name), token)
    const path = `${versionPath(name, '1.0.0')}/status`
    expect((await patch(path, { status: 'deleted' }, await logIn('other.org'))).status).toBe(403)
    expect((await patch(path, { status: 'gone' }, token)).status).toBe(422)
    expect((await patch(path, { status: 'active', statusMessage: 'x' }, token)).status).toBe(400)
    expect((await patch(`${versionPath(name, '9.0.0')}/status`, { status: 'deleted' }, token)).status).toBe(
      404,
    )
  })
})

describe('the validation of a server.json', () => {
  const issuesOf = async (document: unknown) => (await post('/v0/validate', document)).json

  test('finds nothing wrong with a document that can be published', async () => {
    expect(await issuesOf(documentOf('org.pub/tool'))).toEqual({ valid: true, issues: [] })
  })

  const npm = { registryType: 'npm', identifier: '@pub/tool', version: '1.0.0', transport: { type: 'stdio' } }
  test.each([
    [{ $schema: undefined }, '$schema', 'schema-field-required'],
    [{ $schema: 'https://example.com/schema.json' }, '$schema', 'schema-version-extraction-error'],
    [{ name: 'no-slash' }, 'name', 'server-json'],
    [{ name: 'a/b/c' }, 'name', 'server-json'],
    [{ description: 'x'.repeat(101) }, 'description', 'server-json'],
    [{ version: 'latest' }, 'version', 'server-json'],
    [{ version: '^1.2.3' }, 'version', 'server-json'],
    [{ version: '1.x' }, 'version', 'server-json'],
    [{ websiteUrl: 'http://plain.example' }, 'websiteUrl', 'server-json'],
    [{ repository: {} }, 'repository.url', 'server-json'],
    [{ remotes: [{ type: 'http', url: 'https://x.example' }] }, 'remotes[0].type', 'server-json'],
    [{ remotes: [{ type: 'sse', url: 'ftp://x.example' }] }, 'remotes[0].url', 'server-json'],
    [{ packages: [{ ...npm, transport: undefined }] }, 'packages[0].transport', 'server-json'],
    [{ packages: [{ ...npm, registryType: 'mcpb' }] }, 'packages[0]', 'server-json'],
    [{ packages: [{ ...npm, identifier: 'x; rm -rf /' }] }, 'packages[0].identifier', 'package'],
  ])('names the place of %j', async (change, path, reference) => {
    const { valid, issues } = await issuesOf({ ...documentOf('org.pub/tool'), ...change })
    expect(valid).toBe(false)
    expect(issues).toContainEqual({
      type: expect.any(String),
      severity: 'error',
      message: expect.any(String),
      path,
      reference,
    })
  })

  test.each([
    [{ description: 'x'.repeat(101) }, 'Give at most 100 characters.'],
    [{ description: undefined }, 'This field is required.'],
    [{ description: 5 }, 'Give a text, not a number.'],
    [{ remotes: [{ type: 'http', url: 'https://x.example' }] }, 'Give one of streamable-http, sse.'],
    [{ packages: [{ ...npm, transport: undefined }] }, 'This field is required.'],
  ])('says of %j in plain words what to give', async (change, message) => {
    const { issues } = await issuesOf({ ...documentOf('org.pub/tool'), ...change })
    expect(issues).toMatchObject([{ message }])
  })

  test('warns of an older schema', async () => {
    const older = 'https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json'
    const { valid, issues } = await issuesOf({ ...documentOf('org.pub/tool'), $schema: older })
    expect(valid).toBe(true)
    expect(issues).toMatchObject([{ severity: 'warning', reference: 'schema-version-deprecated' }])
  })
})
