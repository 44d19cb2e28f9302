import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProgram } from '../../src/runner/sandbox/find-program.ts'
import { type BashImage, makeBashImage } from '../support/bash-image.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { zip } from '../support/package-registry.ts'
import { hostPath, lacking } from '../support/runner.ts'
import { openTransports } from '../support/transports.ts'

const reason = lacking || (findProgram('podman', hostPath) === undefined ? 'podman is not installed' : '')
const server = readFileSync(join(import.meta.dirname, '../support/package-server.ts'), 'utf8')

describe.skipIf(reason)('an agent that is', () => {
  let home: TestGateway
  let image: BashImage
  let admin: string
  const manifest = {
    manifest_version: '0.3',
    name: 'well',
    version: '1.0.0',
    server: {
      type: 'node',
      entry_point: 'server.ts',
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/server.ts`, 'well', `\${user_config.folder}`],
        env: { API_KEY: `\${user_config.key}`, MODE: `\${user_config.mode}` },
      },
    },
    user_config: {
      key: { type: 'string', title: 'Key', description: '', sensitive: true, required: true },
      mode: { type: 'string', title: 'Mode', description: '', default: 'fast' },
      folder: { type: 'directory', title: 'Folder', description: '', default: `\${HOME}/notes` },
    },
  }
  const bundle = zip({ 'manifest.json': JSON.stringify(manifest), 'server.ts': server })
  const files = createServer((request, response) => {
    if (request.url === '/moved')
      return response.writeHead(302, { Location: 'http://169.254.169.254/x' }).end()
    response.end(bundle)
  })
  let origin: string

  beforeAll(async () => {
    await once(files.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
    image = await makeBashImage()
    await image.import('1.0.0', 'server')
    home = await startGateway({
      DRAGOMAN_IMAGE_REGISTRIES: 'localhost',
      DRAGOMAN_BUNDLE_ORIGINS: origin,
      DRAGOMAN_ALLOW_ORIGINS: origin,
    })
    admin = await home.token('root', { scopes: ['admin', 'a2a:call'] })
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await image?.[Symbol.asyncDispose]()
    files.close()
  })
  const send = async (to: string, action: string, params: object, token = admin) =>
    (await home.request('POST', '/a2a/message', { body: { to, action, params }, token })).json
  async function list(name: string, source: object): Promise<void> {
    const packages = [{ transport: { type: 'stdio' }, ...source }]
    const document = { name, description: `The package ${name}.`, version: '1.0.0', packages }
    const { rejected } = await send('svc.registry', 'import_entries', {
      lines: [JSON.stringify({ server: document })],
    })
    expect(rejected).toEqual([])
  }
  const bundleAt = (path: string) => ({
    registryType: 'mcpb',
    identifier: `${origin}${path}`,
    version: '1.0.0',
    fileSha256: hash('sha256', bundle, 'hex'),
  })

  test('an image is shown, approved, read, and called over every transport', async () => {
    await list('com.example/image', {
      registryType: 'oci',
      identifier: `${image.name}:1.0.0`,
      packageArguments: [{ type: 'positional', value: 'today' }],
      environmentVariables: [{ name: 'GREETED', isSecret: true, isRequired: true }],
    })
    const plan = await send('svc.registry', 'approve_package', { agent: 'com.example/image', dry_run: true })
    expect(plan).toMatchObject({
      package: { registry_type: 'oci', version: '1.0.0', integrity: expect.stringMatching(/^sha256-/) },
      sandbox: { kind: 'podman' },
      missing: ['GREETED'],
    })
    const report = await send('svc.registry', 'approve_package', {
      agent: 'com.example/image',
      variables: { GREETED: 'all' },
      integrity: plan.package.integrity,
    })
    expect(report, JSON.stringify(report)).toMatchObject({ problem: null, tools: [{ name: 'greet' }] })
    for (const transport of openTransports(home)) {
      const envelope = { to: 'com.example/image', action: 'greet', params: {} }
      const outcome = await transport.call(envelope, admin)
      expect([transport.name, JSON.stringify(outcome)]).toEqual([
        transport.name,
        expect.stringContaining('Hello all today'),
      ])
    }
    const token = await home.token('ada')
    const body = { variable: 'GREETED', value: 'Ada' }
    await home.request('PUT', '/api/agents/com.example%2Fimage/credential', { token, body })
    expect(JSON.stringify(await send('com.example/image', 'greet', {}, token))).toContain('Hello Ada today')
    expect(JSON.stringify(await send('com.example/image', 'greet', {}))).toContain('Hello all today')
  })

  test('an image of a registry that the operator does not name is refused', async () => {
    await list('com.example/elsewhere', { registryType: 'oci', identifier: 'ghcr.io/acme/server:1.0.0' })
    const refused = await send('svc.registry', 'approve_package', { agent: 'com.example/elsewhere' })
    expect(refused).toMatchObject({
      code: 'not_installable',
      hint: expect.stringContaining('DRAGOMAN_IMAGE_REGISTRIES'),
    })
    await list('com.example/based', {
      registryType: 'oci',
      registryBaseUrl: 'https://evil.example',
      identifier: 'acme/server',
      version: '1.0.0',
    })
    const based = await send('svc.registry', 'approve_package', { agent: 'com.example/based' })
    expect(based.detail).toContain('evil.example is not a registry')
  })

  test('a bundle asks for the values of its manifest, and each caller may store its own', async () => {
    await list('com.example/bundle', bundleAt('/well.mcpb'))
    const plan = await send('svc.registry', 'approve_package', { agent: 'com.example/bundle', dry_run: true })
    expect(plan).toMatchObject({ missing: ['key'], package: { registry_type: 'mcpb', version: '1.0.0' } })
    expect(plan.package.values).toContainEqual({
      name: 'key',
      part: 'environment',
      secret: true,
      required: true,
      value: null,
    })
    const report = await send('svc.registry', 'approve_package', {
      agent: 'com.example/bundle',
      variables: { key: 'shared-key', mode: 'slow' },
    })
    expect(report, JSON.stringify(report)).toMatchObject({ problem: null })
    for (const transport of openTransports(home)) {
      const outcome = await transport.call({ to: 'com.example/bundle', action: 'facts', params: {} }, admin)
      expect([transport.name, outcome]).toEqual([
        transport.name,
        {
          output: {
            pid: expect.any(Number),
            args: ['well', '/home/package/notes'],
            key: 'shared-key',
            mode: 'slow',
          },
        },
      ])
    }
    const token = await home.token('ada')
    const body = { variable: 'key', value: 'key-of-ada' }
    await home.request('PUT', '/api/agents/com.example%2Fbundle/credential', { token, body })
    expect(await send('com.example/bundle', 'facts', {}, token)).toMatchObject({ key: 'key-of-ada' })
    expect(await send('com.example/bundle', 'facts', {})).toMatchObject({ key: 'shared-key' })
  })

  test('a bundle whose address redirects to a metadata address is refused', async () => {
    await list('com.example/moved', bundleAt('/moved'))
    const refused = await send('svc.registry', 'approve_package', { agent: 'com.example/moved' })
    expect(refused.code).toBe('blocked_address')
  })
})
