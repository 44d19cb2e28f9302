import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nameMode, readConfig } from '../../src/app/config.ts'
import { earlierDataFolder, platformDataFolder } from '../../src/app/user-folders.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { run as start } from '../support/processes.ts'
import { serve } from '../support/serve.ts'

const home = '/home/ada'

describe('the data folder', () => {
  test.each([
    ['linux', { HOME: home }, '/home/ada/.local/share/dragoman'],
    ['linux', { HOME: home, XDG_DATA_HOME: '/xdg' }, '/xdg/dragoman'],
    ['darwin', { HOME: home }, '/home/ada/Library/Application Support/dragoman'],
    ['win32', { HOME: home }, '/home/ada/AppData/Local/dragoman'],
    ['win32', { HOME: home, LOCALAPPDATA: '/local' }, '/local/dragoman'],
  ] as const)("is the user's on %s with %j", (platform, environment, expected) => {
    expect(platformDataFolder(environment, platform)).toBe(expected)
  })

  test('is that of the setting where it is set', () => {
    expect(readConfig({ HOME: home, DRAGOMAN_DATA: '/var/lib/dragoman' }).data).toBe('/var/lib/dragoman')
  })

  test('is ./data only if a registry is there', async () => {
    await using folder = await temporaryFolder()
    expect(earlierDataFolder(folder.path)).toBeUndefined()
    await mkdir(join(folder.path, 'data'))
    expect(earlierDataFolder(folder.path)).toBeUndefined()
    await mkdir(join(folder.path, 'data', 'keys'))
    const key = join(folder.path, 'data', 'keys', 'signing.json')
    await writeFile(key, '{}', { mode: 0o644 })
    expect(earlierDataFolder(folder.path)).toBeUndefined()
    await chmod(key, 0o600)
    expect(earlierDataFolder(folder.path)).toBe(join(folder.path, 'data'))
  })

  test('is found in ./data without its settings, which may come from others', async () => {
    await using folder = await temporaryFolder()
    await mkdir(join(folder.path, 'data', 'keys'), { recursive: true })
    await writeFile(join(folder.path, 'data', 'keys', 'signing.json'), '{}', { mode: 0o600 })
    await writeFile(join(folder.path, 'data', 'dragoman.json'), '{"HOST": "0.0.0.0"}')
    const script = `import { readConfig } from '${resolve(import.meta.dirname, '../../src/app/config.ts')}'
      const { data, HOST } = readConfig({ HOME: '/nonexistent' })
      const chosen = readConfig({ HOME: '/nonexistent', DRAGOMAN_DATA: 'data' })
      process.stdout.write(JSON.stringify([data, HOST, chosen.HOST]))`
    const args = ['--input-type=module', '-e', script]
    const { stdout } = await start(process.execPath, args, {}, { cwd: folder.path }).ended
    expect(JSON.parse(stdout)).toEqual([join(folder.path, 'data'), '127.0.0.1', '0.0.0.0'])
  })

  test('is the same from every folder', async () => {
    await using folder = await temporaryFolder()
    await using elsewhere = await temporaryFolder()
    const args = [command, 'token', 'create', '--sub', 'me']
    const { code } = await start(process.execPath, args, { HOME: folder.path }, { cwd: elsewhere.path }).ended
    expect(code).toBe(0)
    await stat(join(folder.path, '.local/share/dragoman/keys/signing.json'))
    await expect(stat(join(elsewhere.path, 'data'))).rejects.toThrow('ENOENT')
  })
})

describe('the file of the settings', () => {
  async function withFile(text: string, environment: Record<string, string> = {}) {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'dragoman.json'), text)
    return readConfig({ DRAGOMAN_DATA: folder.path, ...environment })
  }

  test('is named where a setting in it is wrong', async () => {
    await expect(withFile('{"PORT": 70000}')).rejects.toThrow(/PORT: .* It is set in .*dragoman\.json\.$/)
    await expect(withFile('{}', { PORT: '70000' })).rejects.toThrow(/PORT: (?!.*It is set in)/)
  })

  test('sets what the environment leaves out', async () => {
    const text = JSON.stringify({
      PORT: 9000,
      DRAGOMAN_CONTACT: 'ada@example.com',
      DRAGOMAN_ALLOW_ORIGINS: ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
      DRAGOMAN_PROBE: true,
    })
    const config = await withFile(text, { PORT: '9001' })
    expect([config.PORT, config.DRAGOMAN_CONTACT, config.DRAGOMAN_PROBE]).toEqual([
      9001,
      'ada@example.com',
      'on',
    ])
    expect(config.DRAGOMAN_ALLOW_ORIGINS).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:2'])
    expect(config.only_here).toEqual(['PORT'])
  })

  test('that is no JSON is refused with the place of the fault', async () => {
    await expect(withFile('{"PORT": 9000,}')).rejects.toThrow(/are not JSON\. .+position 14/)
  })

  test.each([
    ['http://127.0.0.1:1', true],
    ['http://127.0.0.1:1/', true],
    ['ws://127.0.0.1:1', true],
    ['http://127.0.0.1:1/mcp', false],
    ['http://127.0.0.1:1?x', false],
    ['http://ada@127.0.0.1:1', false],
    ['127.0.0.1', false],
  ])('allows the origin %s: %s', async (origin, isAllowed) => {
    const reading = withFile('{}', { DRAGOMAN_ALLOW_ORIGINS: origin })
    if (isAllowed) await expect(reading).resolves.toBeDefined()
    else await expect(reading).rejects.toThrow('Give origins alone, without a path')
  })

  test.each([
    ['https://registry.example.com/', true],
    ['https://registry.example.com/below', true],
    ['https://registry.example.com/?tenant=1', false],
    ['https://registry.example.com/#top', false],
    ['https://ada@registry.example.com', false],
    ['registry.example.com', false],
  ])('allows the base URL %s: %s', async (url, isAllowed) => {
    const reading = withFile('{}', { DRAGOMAN_BASE_URL: url })
    if (isAllowed) await expect(reading).resolves.toBeDefined()
    else await expect(reading).rejects.toThrow('without a user name or a query')
  })

  test('is refused where its name is stated and it is not there, and is not made', async () => {
    await using folder = await temporaryFolder()
    const DRAGOMAN_CONFIG = join(folder.path, 'dragomen.json')
    const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_CONFIG, PORT: '0' }
    for (const name of ['serve', 'list']) {
      const { code, stderr } = await start(process.execPath, [command, name], environment).ended
      expect([code, stderr]).toEqual([
        2,
        `DRAGOMAN_CONFIG: There is no file ${DRAGOMAN_CONFIG}. (invalid_request)
  Correct the name, or make the file: echo '{}' > ${DRAGOMAN_CONFIG}
`,
      ])
    }
    await expect(stat(DRAGOMAN_CONFIG)).rejects.toThrow('ENOENT')
    await writeFile(DRAGOMAN_CONFIG, '{"PORT": 9000}')
    expect(readConfig({ DRAGOMAN_DATA: folder.path, DRAGOMAN_CONFIG }).PORT).toBe(9000)
  })

  test('sets nothing by an empty text', async () => {
    const { PORT, DRAGOMAN_CONTACT } = await withFile('{"PORT": "", "DRAGOMAN_CONTACT": " "}')
    expect([PORT, DRAGOMAN_CONTACT]).toEqual([8080, undefined])
  })

  test('gives way to an empty variable, which unsets', async () => {
    const text = '{"DRAGOMAN_CONTACT": "ada@example.com"}'
    expect((await withFile(text, { DRAGOMAN_CONTACT: '' })).DRAGOMAN_CONTACT).toBeUndefined()
  })

  test.each([
    ['{', 'are not JSON'],
    ['[]', 'It must be a JSON object'],
    ['{"PORT": {}}', 'PORT must be a text, a number or a list'],
    ['{"PORT": "x"}', 'PORT:'],
    ['{"DRAGOMAN_CONTCT": "x"}', 'Did you mean DRAGOMAN_CONTACT?'],
    ['{"DRAGOMAN_TOKEN": "x"}', 'DRAGOMAN_TOKEN: Set it in the environment.'],
    ['{"DRAGOMAN_DATA": "/x"}', 'DRAGOMAN_DATA: Set it in the environment.'],
  ])('is refused as %s', async (text, message) => {
    await expect(withFile(text)).rejects.toThrow(message)
  })

  test('is written at the first start, for its user alone, and never changed after that', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'dragoman.json')
    {
      const environment = { DRAGOMAN_CONTACT: 'ada@example.com', DRAGOMAN_TOKEN: 'secret' }
      await using first = await serve(folder.path, environment)
      await first.printed(/Settings: .+\/dragoman\.json, written now\n/)
    }
    const { mode } = await stat(path)
    expect(mode & 0o777).toBe(0o600)
    const written = await readFile(path, 'utf8')
    expect(JSON.parse(written)).toMatchObject({ DRAGOMAN_CONTACT: 'ada@example.com' })
    expect(written).not.toContain('secret')
    await using second = await serve(folder.path, { DRAGOMAN_CONTACT: 'eve@example.com' })
    await second.printed(/Settings: .+\/dragoman\.json\n/)
    await second.printed(
      /Set in the environment of this process, and not so in .+\/dragoman\.json: DRAGOMAN_CONTACT\./,
    )
    expect(await readFile(path, 'utf8')).toBe(written)
  }, 30_000)

  test('names a public URL with a path, under which the page does not work, and settings without effect', async () => {
    await using folder = await temporaryFolder()
    await using gateway = await serve(folder.path, {
      DRAGOMAN_BASE_URL: 'https://example.com/registry',
      DRAGOMAN_MODEL: 'e5',
    })
    await gateway.printed(/Without effect while DRAGOMAN_EMBEDDER is static, .+: DRAGOMAN_MODEL\./)
    await gateway.printed(/DRAGOMAN_BASE_URL has a path\. .+ a host of their own\./)
  }, 30_000)

  test('is named at a start without a contact, with what to add', async () => {
    await using folder = await temporaryFolder()
    await using gateway = await serve(folder.path, {})
    await gateway.printed(/add "DRAGOMAN_CONTACT": "you@example\.com" to .+\/dragoman\.json/)
  }, 30_000)
})

test.each([
  'proxy',
  '10.0.0.5, nginx',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  'fd00::/129',
  '10.0.0/8',
  '10.0.0.0/-1',
])('a trusted proxy is an address or a network, not %s', (text) => {
  expect(() => readConfig({ DRAGOMAN_TRUSTED_PROXIES: text })).toThrow(
    'Give IP addresses or networks such as 10.0.0.5, 10.0.0.0/8 or fd00::/8',
  )
})

test('trusted proxies are addresses of both families', () => {
  const { DRAGOMAN_TRUSTED_PROXIES } = readConfig({ DRAGOMAN_TRUSTED_PROXIES: '10.0.0.5, fd00::/8' })
  expect(DRAGOMAN_TRUSTED_PROXIES).toEqual(['10.0.0.5', 'fd00::/8'])
})

describe('a setting whose value could have no effect, or another one than meant', () => {
  test.each([
    ['DRAGOMAN_BASE_URL', 'https://one.example,https://two.example'],
    ['DRAGOMAN_BASE_URL', 'https:one.example'],
    ['DRAGOMAN_URL', 'https://one.example/?agents'],
    ['DRAGOMAN_NPM_REGISTRY', 'https://npm.example/?x'],
    ['DRAGOMAN_SECRET_KEY', `!${Buffer.alloc(32, 7).toString('base64')}`],
    ['DRAGOMAN_PROTECTED_NAMES', '='],
    ['DRAGOMAN_PROTECTED_NAMES', '=='],
    ['DRAGOMAN_PROTECTED_NAMES', 'Google='],
    ['DRAGOMAN_PROTECTED_NAMES', '=google.com'],
    ['DRAGOMAN_PROTECTED_NAMES', 'Google=google'],
    ['DRAGOMAN_PROTECTED_NAMES', 'Google=https://google.com'],
    ['DRAGOMAN_PROTECTED_NAMES', 'Google=google.com google.de'],
    ['DRAGOMAN_CONTACT', 'ada@例え.example'],
    ['DRAGOMAN_CONTACT', 'ada@example.com\nX: y'],
    ['DRAGOMAN_ALLOW_ORIGINS', 'http://*.example.com'],
    ['DRAGOMAN_ALLOWED_WEB_ORIGINS', 'app.example.com'],
    ['DRAGOMAN_ALLOWED_WEB_ORIGINS', '*'],
    ['DRAGOMAN_ALLOWED_WEB_ORIGINS', 'null'],
    ['DRAGOMAN_ALLOWED_WEB_ORIGINS', 'https://app.example.com/page'],
    ['DRAGOMAN_ALLOWED_WEB_ORIGINS', 'https://*.example.com'],
    ['DRAGOMAN_DNS_SERVERS', 'dns.example'],
    ['DRAGOMAN_DNS_SERVERS', '9.9.9.9; 149.112.112.112'],
    ['DRAGOMAN_RETENTION', 'versions=30,versions=60'],
    ['DRAGOMAN_QUOTAS', 'entries=30,entries=60'],
    ['DRAGOMAN_MIRRORS', 'https://'],
    ['DRAGOMAN_IMAGE_REGISTRIES', 'https://ghcr.io'],
    ['DRAGOMAN_IMAGE_REGISTRIES', 'ghcr.io/acme'],
    ['DRAGOMAN_IMAGE_REGISTRIES', 'ghcr'],
    ['DRAGOMAN_BUNDLE_ORIGINS', 'ftp://files.example'],
    ['DRAGOMAN_WIKI_URL', 'https://{language}.wikipedia.org/w/api.php'],
    ['DRAGOMAN_WIKI_LANGUAGES', 'en de'],
    ['DRAGOMAN_WIKI_LANGUAGES', 'EN'],
  ])('is refused by its name: %s=%s', (name, text) => {
    expect(() => readConfig({ DRAGOMAN_DATA: '/nonexistent', [name]: text })).toThrow(`${name}: `)
  })

  test.each([
    ['DRAGOMAN_BASE_URL', 'https://bücher.example', 'https://bücher.example'],
    ['DRAGOMAN_BASE_URL', 'http://[::1]:8080/', 'http://[::1]:8080'],
    ['DRAGOMAN_PROTECTED_NAMES', 'Acme Tools = acme.example, 东京', ['Acme Tools = acme.example', '东京']],
    ['DRAGOMAN_ALLOW_ORIGINS', 'ws://127.0.0.1:4000', ['ws://127.0.0.1:4000']],
    [
      'DRAGOMAN_ALLOWED_WEB_ORIGINS',
      'HTTPS://App.example.com/, http://localhost:80',
      ['https://app.example.com', 'http://localhost'],
    ],
    [
      'DRAGOMAN_DNS_SERVERS',
      '9.9.9.9:53, [2620:fe::fe]:53, 2620:fe::9',
      ['9.9.9.9:53', '[2620:fe::fe]:53', '2620:fe::9'],
    ],
    [
      'DRAGOMAN_IMAGE_REGISTRIES',
      'ghcr.io, localhost, registry:5000',
      ['ghcr.io', 'localhost', 'registry:5000'],
    ],
    ['DRAGOMAN_WIKI_LANGUAGES', 'en, zh-yue', ['en', 'zh-yue']],
  ] as const)('is taken: %s=%s', (name, text, expected) => {
    expect(readConfig({ DRAGOMAN_DATA: '/nonexistent', [name]: text })[name]).toEqual(expected)
  })
})

test('spaces around a setting do not count, and a setting of spaces alone is not set', () => {
  const { PORT, HOST, DRAGOMAN_DRAIN, DRAGOMAN_BASE_URL, set } = readConfig({
    DRAGOMAN_DATA: '/nonexistent',
    PORT: ' ',
    HOST: '::1 ',
    DRAGOMAN_DRAIN: ' ',
    DRAGOMAN_BASE_URL: ' https://one.example\r',
  })
  expect([PORT, HOST, DRAGOMAN_DRAIN, DRAGOMAN_BASE_URL]).toEqual([8080, '::1', 0.3, 'https://one.example'])
  expect(set).toEqual(['HOST', 'DRAGOMAN_DATA', 'DRAGOMAN_BASE_URL'])
})

describe('a setting that nothing reads', () => {
  test.each([
    ['DRAGOMAN_RATELIMIT', 'Did you mean DRAGOMAN_RATE_LIMIT?'],
    ['DRAGOMAN_QZX', 'which is not a setting'],
  ])('is refused: %s', (name, message) => {
    expect(() => readConfig({ [name]: 'off' })).toThrow(message)
  })

  test.each(['serve', 'search', 'mcp'])('ends %s as wrong usage', async (command) => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_RATELIMIT: 'off' }
    const { code, stderr } = await run([command], environment)
    expect(code).toBe(2)
    expect(stderr).toContain('Did you mean DRAGOMAN_RATE_LIMIT?')
  })
})

describe('who may take an agent live', () => {
  const logins = JSON.stringify([{ kind: 'github', client_id: 'x', client_secret: 'y' }])

  test.each([
    [{}, 'open'],
    [{ DRAGOMAN_LOGINS: logins }, 'proof'],
    [{ DRAGOMAN_LOGINS: logins, DRAGOMAN_NAMES: 'open' }, 'open'],
    [{ DRAGOMAN_NAMES: 'proof' }, 'proof'],
  ])('by the settings %j: %s', (environment, expected) => {
    expect(nameMode(readConfig({ DRAGOMAN_DATA: '/nonexistent', ...environment }))).toBe(expected)
  })
})

describe('the search index', () => {
  const read = (DRAGOMAN_SEARCH: string) => readConfig({ DRAGOMAN_DATA: '/nonexistent', DRAGOMAN_SEARCH })

  test.each([
    'memory',
    'elasticsearch+https://ada:hush@search.example:9200/agents',
    'elasticsearch+https://search.example/below/agents',
    'elasticsearch+http://127.0.0.1:9200/agents',
    'elasticsearch+https://search.example/agents?shards=3&replicas=1',
  ])('may be %s', (setting) => {
    expect(read(setting).DRAGOMAN_SEARCH).toBe(setting)
  })

  test.each([
    'elasticsearch',
    'https://search.example/agents',
    'elasticsearch+https://search.example',
    'elasticsearch+https://search.example/Agents',
    'elasticsearch+http://ada:hush@search.example/agents',
    'elasticsearch+https://search.example/agents?shards=0',
    'elasticsearch+https://search.example/agents?shard=3',
  ])('may not be %s', (setting) => {
    expect(() => read(setting)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringMatching(/^(?!.*hush).*DRAGOMAN_SEARCH.*elasticsearch\+https:/s),
      }),
    )
  })
})
