import { execFile } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, temporaryFolder } from '../../support/command.ts'
import { type DnsServer, serveDns } from '../../support/dns.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const publisher = installed('mcp-publisher-1.8.5') ?? ''
const execute = promisify(execFile)

/** Its own hosts file and port 443 of an address of its own need root. */
const mayMount = process.getuid?.() === 0 && existsSync('/usr/bin/unshare') && existsSync('/usr/bin/openssl')
if (!publisher || !mayMount)
  console.error('Without the publisher command, root, unshare and openssl, its tests are skipped.')

const seed = '5a'.repeat(32)
const official = 'io.modelcontextprotocol.registry/official'

/** The record that belongs to the seed. */
function recordOf(privateSeed: string): string {
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(privateSeed, 'hex'),
  ])
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(-32)
  return `v=MCPv1; k=ed25519; p=${raw.toString('base64')}`
}

const documentOf = (name: string, version: string) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name,
  title: 'Tides',
  description: 'Tells when the sea is high.',
  version,
  packages: [
    {
      registryType: 'npm',
      identifier: '@pub/tides',
      version: '1.0.0',
      transport: { type: 'stdio' },
      environmentVariables: [{ name: 'TIDES_KEY', isRequired: true, isSecret: true, format: 'string' }],
    },
  ],
})

/** Runs the publisher command in a folder of its own; its output, or an error if it fails. */
async function publish(home: string, args: readonly string[], input?: string): Promise<string> {
  await using running = run(publisher, args, { HOME: home }, { cwd: home, ...(input && { input }) })
  const { code, stdout, stderr } = await running.ended
  if (code !== 0) throw new Error(stdout + stderr)
  return stdout
}

describe.skipIf(!publisher)('the publisher command of the MCP registry', () => {
  let dns: DnsServer
  let home: TestGateway
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  const name = 'com.pub-test/tides'
  const log = ['login', 'dns', '--domain', 'pub-test.com']
  const ask = async (path: string) =>
    (await home.request('GET', `/v0/servers/${encodeURIComponent(name)}/${path}`)).json
  const state = async (document: object) =>
    await writeFile(join(folder.path, 'server.json'), JSON.stringify(document))

  beforeAll(async () => {
    dns = await serveDns()
    home = await startGateway({ DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_NAMES: 'proof' })
    folder = await temporaryFolder()
    dns.txt('pub-test.com', recordOf(seed))
    await publish(folder.path, [...log, '--registry', home.url, '--private-key', seed])
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await dns?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  test('is refused with a key that the domain does not publish', async () => {
    await using other = await temporaryFolder()
    const wrong = publish(other.path, [...log, '--registry', home.url, '--private-key', '11'.repeat(32)])
    await expect(wrong).rejects.toThrow(/401/)
  })

  test('validates a document, and says what is wrong with another', async () => {
    await state(documentOf(name, '1.0.0'))
    expect(await publish(folder.path, ['validate'])).toContain('is valid')
    await state({ ...documentOf(name, '1.0.0'), description: '' })
    await expect(publish(folder.path, ['validate'])).rejects.toThrow(/description/)
  })

  test('publishes versions, and reads back what it sent', async () => {
    for (const version of ['1.0.0', '1.1.0']) {
      await state(documentOf(name, version))
      expect(await publish(folder.path, ['publish'])).toContain('Successfully published')
    }
    expect((await ask('versions/latest')).server).toEqual(documentOf(name, '1.1.0'))
    await expect(publish(folder.path, ['publish'])).rejects.toThrow(/400/)
    await state(documentOf('com.other/tides', '1.0.0'))
    await expect(publish(folder.path, ['publish'])).rejects.toThrow(/403/)
  })

  test('sets the status of a version, and of all versions after a question', async () => {
    const deprecate = ['status', '--status', 'deprecated', '--message', 'Old.']
    expect(await publish(folder.path, [...deprecate, name, '1.0.0'])).toContain('active → deprecated')
    const { servers } = await ask('versions')
    const statuses = servers.map(
      ({ _meta }: { _meta: Record<string, { status: string }> }) => _meta[official]?.status,
    )
    expect(statuses).toEqual(['active', 'deprecated'])
    const remove = ['status', '--status', 'deleted', '--all-versions', name]
    await expect(publish(folder.path, remove, 'n\n')).rejects.toThrow(/cancelled/)
    expect(await publish(folder.path, remove, 'y\n')).toContain('updated 2 version(s)')
    expect(await ask('versions')).toMatchObject({ status: 404 })
    const restore = ['status', '--status', 'active', '--all-versions', name]
    expect(await publish(folder.path, restore, 'y\n')).toContain('updated 2 version(s)')
    expect((await ask('versions')).servers).toHaveLength(2)
  })
})

test.skipIf(!publisher || !mayMount)(
  'the publisher command logs in by a file of its domain, over HTTPS',
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(await temporaryFolder())
    const file = (name: string) => join(folder.path, name)
    await writeFile(file('hosts'), '127.0.0.1 localhost\n127.0.0.77 site.pub-test.com\n')
    await makeCertificate(folder.path, 'site.pub-test.com')
    const site = createServer(
      { key: await readFile(file('key.pem')), cert: await readFile(file('cert.pem')) },
      ({ url }, response) => {
        const isProof = url === '/.well-known/mcp-registry-auth'
        response.writeHead(isProof ? 200 : 404, { 'Content-Type': 'text/plain' })
        response.end(isProof ? recordOf(seed) : '')
      },
    )
    await new Promise<void>((resolve) => site.listen(443, '127.0.0.77', resolve))
    stack.defer(() => {
      site.closeAllConnections()
      site.close()
    })
    const words = [
      'mount --bind "$0" /etc/hosts && exec "$@"',
      file('hosts'),
      process.execPath,
      command,
      'serve',
    ]
    const product = stack.use(
      run('unshare', ['-m', 'sh', '-c', ...words], {
        PORT: '0',
        DRAGOMAN_LOG: 'silent',
        HOME: folder.path,
        DRAGOMAN_DATA: file('data'),
        DRAGOMAN_ALLOW_ORIGINS: 'https://site.pub-test.com',
        DRAGOMAN_LIVENESS: 'off',
        NODE_EXTRA_CA_CERTS: file('cert.pem'),
      }),
    )
    const [, url = ''] = await product.printed(/listening on (http:\S+)\n/)
    await mkdir(file('publisher'))
    const logIn = (key: string) =>
      publish(file('publisher'), [
        ...['login', 'http', '--domain', 'site.pub-test.com'],
        ...['--registry', url, '--private-key', key],
      ])
    await expect(logIn('11'.repeat(32))).rejects.toThrow(/401/)
    expect(await logIn(seed)).toContain('Successfully logged in')
    const document = documentOf('com.pub-test.site/tides', '1.0.0')
    await writeFile(join(file('publisher'), 'server.json'), JSON.stringify(document))
    expect(await publish(file('publisher'), ['publish'])).toContain('Successfully published')
  },
  60_000,
)

/** A certificate for a name, which is its own authority. */
async function makeCertificate(folder: string, name: string): Promise<void> {
  await execute('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`],
    ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')],
  ])
}
