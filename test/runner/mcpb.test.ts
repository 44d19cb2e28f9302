import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PackageSource } from '../../src/runner/runner.ts'
import { zip } from '../support/package-registry.ts'
import { commandPuppet, puppet } from '../support/puppet.ts'
import { lacking, openTestRunner, type TestRunner } from '../support/runner.ts'

const never = new AbortController().signal
const code = puppet.files['puppet.js'] ?? ''
const registry = { npm: 'http://127.0.0.1:1', pypi: 'http://127.0.0.1:1/simple' }

const manifest = {
  manifest_version: '0.3',
  name: 'puppet',
  version: '1.2.3',
  server: {
    type: 'node',
    entry_point: 'server/puppet.js',
    mcp_config: { command: 'node', args: [`\${__dirname}/server/puppet.js`] },
  },
}

function withServer(changes: object, more: object = {}) {
  return { ...manifest, server: { ...manifest.server, ...changes }, ...more }
}

describe.skipIf(lacking)('a bundle', () => {
  const served = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const found = served.get(request.url ?? '')
    response.writeHead(found ? 200 : 404).end(found)
  })
  let origin: string
  let world: TestRunner
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    world = await openTestRunner({ ...registry, bundles: [origin] })
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    server.close()
  })

  function serve(bytes: Buffer, digest = hash('sha256', bytes, 'hex')): PackageSource {
    const path = `/${served.size}.mcpb`
    served.set(path, bytes)
    return { registry_type: 'mcpb', identifier: origin + path, version: 'latest', file_sha256: digest }
  }
  const bundle = (content: object, more: Record<string, string> = {}) =>
    serve(zip({ 'manifest.json': JSON.stringify(content), 'server/puppet.js': code, ...more }))

  async function start(source: PackageSource, more: { args?: string[]; env?: Record<string, string> } = {}) {
    const resolved = await world.runner.resolve(source, never)
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    const request = { resolved, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [], ...more }
    return await world.runner.start(request, never)
  }
  const failureOf = (source: PackageSource) =>
    world.runner
      .resolve(source, never)
      .then((found) => world.runner.install(found, { scripts: false }, never))
      .then(
        () => undefined,
        ({ code, message }) => ({ code, message }),
      )

  test('runs by its manifest, with its values in the places that it names', async () => {
    const source = bundle(
      withServer(
        {
          mcp_config: {
            command: 'node',
            args: [
              `\${__dirname}/server/puppet.js`,
              `--key=\${user_config.api-key}`,
              `\${user_config.folders}`,
              `\${user_config.none}`,
            ],
            env: {
              LEVEL: `\${user_config.level}`,
              NONE: `\${user_config.none}`,
              PLACE: `\${HOME}/x`,
              ODD: `\${constructor}`,
            },
            platform_overrides: { linux: { env: { SYSTEM: 'linux' } }, win32: { command: 'cmd' } },
          },
        },
        {
          user_config: {
            'api-key': {
              type: 'string',
              title: 'Key',
              description: 'Of the API',
              sensitive: true,
              required: true,
            },
            folders: {
              type: 'directory',
              title: 'Folders',
              description: '',
              multiple: true,
              default: [`\${HOME}/a`, '/b'],
            },
            level: { type: 'number', title: 'Level', description: '', default: 3, min: 1, max: 9 },
            none: { type: 'string', title: 'None', description: '' },
          },
        },
      ),
    )
    const resolved = await world.runner.resolve(source, never)
    expect(resolved).toMatchObject({
      source: { version: '1.2.3' },
      integrity: expect.stringMatching(/^sha256-/),
    })
    expect(resolved.inputs).toMatchObject([
      { name: 'api_key', is_secret: true, is_required: true },
      { name: 'folders', is_secret: false, is_required: false },
      { name: 'level', format: 'number', is_required: false },
      { name: 'none', is_required: false },
    ])
    await using child = await start(source, { args: ['last'], env: { api_key: '$& secret', OTHER: 'own' } })
    const attempt = commandPuppet(child)
    expect(await attempt((_, process) => process.argv.slice(2))).toEqual({
      value: ['--key=$& secret', '/home/package/a', '/b', 'last'],
    })
    const { value } = await attempt((_, process) => process.env)
    expect(value).toMatchObject({ LEVEL: '3', PLACE: '/home/package/x', SYSTEM: 'linux', OTHER: 'own' })
    expect(value).toMatchObject({ ODD: `\${constructor}` })
    expect(Object.keys(value as object)).not.toEqual(expect.arrayContaining(['NONE']))
    expect(Object.keys(value as object)).not.toEqual(expect.arrayContaining(['api_key']))
    await using other = await start(source, { env: { api_key: 'k', level: '4', folders: '/one\n/two' } })
    expect(await commandPuppet(other)((_, process) => [...process.argv.slice(3), process.env.LEVEL])).toEqual(
      {
        value: ['/one', '/two', '4'],
      },
    )
    await expect(start(source, { env: { api_key: 'k', level: '99' } })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'level takes a number from 1 to 9.',
    })
  })

  test('of a program runs it, and one of Python finds its modules', async () => {
    const script = '#!/bin/sh\nread line; echo "{\\"value\\": \\"$1 $line\\"}"; read line\n'
    const program = withServer({
      type: 'binary',
      entry_point: 'bin/run',
      mcp_config: { command: 'bin/run', args: ['a'] },
    })
    const files = { 'manifest.json': JSON.stringify(program), 'bin/run': script }
    await using child = await start(serve(zip(files, { 'bin/run': 0o100755 })))
    child.stdin.write('hello\n')
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    expect(chunk.toString()).toBe('{"value": "a hello"}\n')

    const python = withServer({
      type: 'python',
      entry_point: 'main.py',
      mcp_config: { command: 'python', args: ['main.py'], env: { PYTHONPATH: `\${__dirname}/lib` } },
    })
    const main =
      'import greeting, json, sys\nprint(json.dumps(greeting.text), flush=True)\nsys.stdin.read()\n'
    const source = serve(
      zip({
        'manifest.json': JSON.stringify(python),
        'main.py': main,
        'lib/greeting.py': 'text = "hello"\n',
      }),
    )
    await using other = await start(source)
    const [text] = (await once(other.stdout, 'data')) as [Buffer]
    expect(text.toString()).toBe('"hello"\n')
  })

  test('with another digest, from another origin or without a digest is refused', async () => {
    const { file_sha256, ...source } = bundle(manifest)
    expect(await failureOf({ ...source, file_sha256: 'a'.repeat(64) })).toMatchObject({
      code: 'precondition_failed',
      message: expect.stringContaining(file_sha256 ?? 'none'),
    })
    expect(await failureOf(source)).toMatchObject({ code: 'not_installable' })
    const elsewhere = 'https://evil.example/a.mcpb'
    expect(await failureOf({ ...source, identifier: elsewhere, file_sha256: 'a'.repeat(64) })).toMatchObject({
      code: 'not_installable',
      message: expect.stringContaining('https://evil.example is not an origin'),
    })
  })

  test('that changes at its address after it was looked at is refused', async () => {
    const source = bundle(manifest)
    const resolved = await world.runner.resolve(source, never)
    served.set(new URL(source.identifier).pathname, zip({ 'manifest.json': '{}' }))
    await expect(world.runner.install(resolved, { scripts: false }, never)).rejects.toMatchObject({
      code: 'precondition_failed',
    })
  })

  test.each([
    ['another system', { compatibility: { platforms: ['win32'] } }, /needs win32; here is linux/],
    [
      'a newer Node.js',
      { compatibility: { runtimes: { node: '>=99' } } },
      /needs Node\.js >=99; here is v24/,
    ],
    [
      'a command that is not its kind',
      withServer({ mcp_config: { command: 'bash' } }),
      /runs "bash" for a server of the type node/,
    ],
    [
      'a program outside of itself',
      withServer({ type: 'binary', mcp_config: { command: '../../bin/sh' } }),
      /has no program/,
    ],
    [
      'a variable that decides what runs',
      withServer({ mcp_config: { command: 'node', env: { NODE_OPTIONS: '-r x' } } }),
      /sets the variable NODE_OPTIONS/,
    ],
    [
      'modules from elsewhere',
      withServer({ mcp_config: { command: 'node', env: { NODE_PATH: '/home/package' } } }),
      /sets the variable NODE_PATH/,
    ],
    [
      'a value by the name of such a variable',
      { user_config: { PATH: { type: 'string', title: '' } } },
      /asks for a value by the name PATH/,
    ],
    [
      'the network at its installation',
      withServer({ type: 'uv', mcp_config: { command: 'uv', args: ['run'] } }),
      /runs "uv"/,
    ],
  ])('that wants %s has an error of its own', async (_, changes, message) => {
    expect(await failureOf(bundle({ ...manifest, ...changes }))).toEqual({
      code: 'not_installable',
      message: expect.stringMatching(message),
    })
  })

  const plain = { 'manifest.json': JSON.stringify(manifest), 'server/puppet.js': code }
  const withPath = (path: string) => zip({ ...plain, [path]: 'x' })
  /** The archive with a file whose content inflates to more than it states. */
  function bomb(): Buffer {
    const packed = deflateRawSync(Buffer.alloc(64 * 1024 * 1024))
    const bytes = zip({ ...plain, bomb: packed.toString('latin1') })
    const utf8 = Buffer.from(packed.toString('latin1'))
    const local = bytes.indexOf('bomb') - 30
    const central = bytes.lastIndexOf('bomb') - 46
    // Method 8, with the bytes as they were stored.
    bytes.writeUInt16LE(8, local + 8)
    bytes.writeUInt16LE(8, central + 10)
    packed.copy(bytes, bytes.indexOf(utf8))
    bytes.writeUInt32LE(100, central + 24)
    return bytes
  }
  const large = (size: number) => {
    const bytes = zip(plain)
    bytes.writeUInt32LE(size, bytes.lastIndexOf('PK\x01\x02') + 24)
    return bytes
  }
  test.each([
    ['names a path above itself', () => withPath('../../escaped')],
    ['names a path above itself in the middle', () => withPath('a/../../../escaped')],
    ['names an absolute path', () => withPath('/etc/cron.d/escaped')],
    ['names a path of another system', () => withPath('..\\escaped')],
    ['holds a link', () => zip({ ...plain, link: '/etc' }, { link: 0o120777 })],
    [
      'holds a link in the place of its manifest',
      () => zip({ 'manifest.json': '/etc/shadow' }, { 'manifest.json': 0o120777 }),
    ],
    ['holds a device', () => zip({ ...plain, device: '' }, { device: 0o020666 })],
    ['inflates to more than it states', bomb],
    ['states files of gigabytes', () => large(0xfffffff0)],
    ['is no archive', () => Buffer.from('no archive')],
    ['is cut', () => zip(plain).subarray(200)],
    ['has no manifest', () => zip({ 'server/puppet.js': code })],
    ['has a manifest that is no JSON', () => zip({ 'manifest.json': '{' })],
    ['has a huge manifest', () => zip({ 'manifest.json': ' '.repeat(2 * 1024 * 1024) })],
    ['has a manifest without a server', () => zip({ 'manifest.json': '{"version": "1"}' })],
  ])('that %s is refused, and leaves nothing', async (_, make) => {
    const failure = await failureOf(serve(make()))
    expect(failure?.code, failure?.message).toBe('not_installable')
    expect(failure?.message).not.toContain('root:')
    const { readdir } = await import('node:fs/promises')
    expect((await readdir(world.folder)).filter((name) => name.startsWith('work-'))).toEqual([])
  })
})
