// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts put values in the place of such texts
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { isScalar, parseDocument, parse as parseYaml, visit } from 'yaml'
import { type HostId, hostIds } from '../../../schemas/install.ts'
import { hostOf, install, installed, packaged, remote, wordsOf } from '../../support/installed.ts'

const keyed = {
  headers: [{ name: 'Authorization', value: 'Bearer {key}', variables: { key: { is_required: true } } }],
}
const odd = "it's; (touch x)"
const withVariables = {
  environment_variables: [
    { name: 'WEATHER_KEY', description: 'Key of the service.', is_required: true, is_secret: true },
    { name: 'UNITS', value: 'metric' },
    { name: 'CACHE', description: 'Folder of the cache.' },
  ],
  package_arguments: [
    { type: 'named', name: '--town', is_required: true, choices: ['Oslo', 'Rome'] },
    { type: 'positional', value: odd },
  ],
}
const args = (town: string) => ['-y', '@example/weather@1.2.3', '--town', town, odd]
const url = 'https://weather.example.com/mcp'
const prompts = [
  {
    id: 'weather-491b5db4243c6a71-mcp-weather-491b5db4243c6a71-town',
    type: 'pickString',
    description: '--town',
    options: ['Oslo', 'Rome'],
  },
  {
    id: 'weather-491b5db4243c6a71-weather-key',
    type: 'promptString',
    description: 'Key of the service.',
    password: true,
  },
]
const keyPrompt = {
  id: 'weather-491b5db4243c6a71-mcp-weather-491b5db4243c6a71-key',
  type: 'promptString',
  description: 'key',
  password: true,
}

/** A host's own reading of its file, and what it then has for the package and for the address. */
interface Row {
  readonly read: (text: string) => unknown
  readonly process: unknown
  readonly http: unknown
}

const placed = (place: (variable: string) => string) => ({
  process: {
    command: 'npx',
    args: args(place('MCP_WEATHER_491B5DB4243C6A71_TOWN')),
    env: { WEATHER_KEY: place('WEATHER_KEY'), UNITS: 'metric' },
  },
  http: { url, headers: { Authorization: `Bearer ${place('MCP_WEATHER_491B5DB4243C6A71_KEY')}` } },
})
const input = placed(
  (variable) => `\${input:weather-491b5db4243c6a71-${variable.toLowerCase().replaceAll('_', '-')}}`,
)
const cursor = placed((variable) => `\${env:${variable}}`)
const shell = placed((variable) => `\${${variable}}`)
const blank = placed((variable) => `<${variable}>`)
const servers = (key: string, server: object, more: object = {}) => ({ ...more, [key]: { weather: server } })
const vscode: Row = {
  read: JSON.parse,
  process: servers('servers', { type: 'stdio', ...input.process }, { inputs: prompts }),
  http: servers('servers', { type: 'http', ...input.http }, { inputs: [keyPrompt] }),
}
const blankRow = (type: boolean, key = 'mcpServers'): Row => ({
  read: JSON.parse,
  process: servers(key, { ...(type && { type: 'stdio' }), ...blank.process }),
  http: servers(key, { ...(type && { type: 'http' }), ...blank.http }),
})

const rows: Record<HostId, Row> = {
  vscode,
  'vscode-insiders': vscode,
  cursor: {
    read: JSON.parse,
    process: servers('mcpServers', cursor.process),
    http: servers('mcpServers', cursor.http),
  },
  'claude-code': {
    read: JSON.parse,
    process: servers('mcpServers', { type: 'stdio', ...shell.process }),
    http: servers('mcpServers', { type: 'http', ...shell.http }),
  },
  'claude-desktop': { ...blankRow(false), http: undefined },
  codex: {
    read: parseToml,
    process: servers('mcp_servers', {
      command: 'npx',
      args: args('<MCP_WEATHER_491B5DB4243C6A71_TOWN>'),
      env: { UNITS: 'metric' },
      env_vars: ['WEATHER_KEY'],
    }),
    http: servers('mcp_servers', { url, bearer_token_env_var: 'MCP_WEATHER_491B5DB4243C6A71_KEY' }),
  },
  'gemini-cli': {
    read: JSON.parse,
    process: servers('mcpServers', shell.process),
    http: servers('mcpServers', { type: 'http', ...shell.http }),
  },
  'lm-studio': blankRow(false),
  goose: {
    read: parseYaml,
    process: servers('extensions', {
      enabled: true,
      name: 'weather',
      description: 'Weather',
      timeout: 300,
      type: 'stdio',
      cmd: 'npx',
      args: args('<MCP_WEATHER_491B5DB4243C6A71_TOWN>'),
      envs: { UNITS: 'metric' },
      env_keys: ['WEATHER_KEY'],
    }),
    http: servers('extensions', {
      enabled: true,
      name: 'weather',
      description: 'Weather',
      timeout: 300,
      type: 'streamable_http',
      uri: url,
      headers: { Authorization: 'Bearer ${MCP_WEATHER_491B5DB4243C6A71_KEY}' },
      envs: {},
      env_keys: ['MCP_WEATHER_491B5DB4243C6A71_KEY'],
    }),
  },
  zed: blankRow(false, 'context_servers'),
  windsurf: {
    read: JSON.parse,
    process: servers('mcpServers', cursor.process),
    http: servers('mcpServers', { serverUrl: url, headers: cursor.http.headers }),
  },
  json: blankRow(true),
}

describe('the configuration of', () => {
  test.each(hostIds)('%s is what the host reads', (host) => {
    const row = rows[host]
    for (const [entry, expected] of [
      [packaged(withVariables), row.process],
      [remote(keyed), row.http],
    ] as const) {
      const found = hostOf(entry, host)
      if (expected === undefined) {
        expect([found.text, found.reason]).toEqual([null, expect.stringContaining('connector')])
        continue
      }
      expect(row.read(found.text ?? '')).toEqual(expected)
      expect(found.config).toEqual(expected)
      expect(found.note).toMatch(/\.$/)
    }
  })

  test('a host without prompts takes the default of a value that is no secret', () => {
    const entry = packaged({
      package_arguments: [{ type: 'positional', is_required: true, default: '8080', value_hint: 'port' }],
    })
    const last = (host: HostId) => JSON.parse(hostOf(entry, host).text ?? '').mcpServers.weather.args.at(-1)
    expect([last('cursor'), last('claude-code')]).toEqual([
      '8080',
      '${MCP_WEATHER_491B5DB4243C6A71_PORT:-8080}',
    ])
    expect(JSON.parse(hostOf(entry, 'vscode').text ?? '').inputs).toMatchObject([{ default: '8080' }])
  })

  test('Codex takes headers that are no bearer token from the environment, whole', () => {
    const entry = remote({
      headers: [
        { name: 'X-Key', is_required: true, is_secret: true },
        { name: 'X-App', value: 'App {app}', variables: { app: {} } },
        { name: 'X-Fixed', value: 'yes' },
      ],
    })
    const { text, note } = hostOf(entry, 'codex')
    expect(parseToml(text ?? '')).toEqual({
      mcp_servers: {
        weather: {
          url,
          http_headers: { 'X-Fixed': 'yes' },
          env_http_headers: {
            'X-Key': 'MCP_WEATHER_491B5DB4243C6A71_X_KEY',
            'X-App': 'MCP_WEATHER_491B5DB4243C6A71_APP',
          },
        },
      },
    })
    expect(note).toContain(
      'MCP_WEATHER_491B5DB4243C6A71_APP holds the whole value: App <MCP_WEATHER_491B5DB4243C6A71_APP>.',
    )
  })

  test('an image whose name has a version is not said to lack it', () => {
    const isSaid = (identifier: string, version?: string) =>
      install(packaged({ registry_type: 'oci', identifier, version })).targets[0]?.notes.some((note) =>
        note.startsWith('It states no version'),
      )
    expect(isSaid('docker.io/example/weather:1.0.0')).toBe(false)
    expect(isSaid(`example/weather@sha256:${'a'.repeat(64)}`)).toBe(false)
    expect(isSaid('example/weather', '1.0.0')).toBe(false)
    expect(isSaid('example/weather:latest')).toBe(true)
    expect(isSaid('ghcr.io/example/weather')).toBe(true)
  })

  test('prompts have no hidden characters of the publisher', () => {
    const entry = packaged({
      environment_variables: [
        {
          name: 'KEY',
          description: 'Your\u202E key\u200B\u001b[2J',
          is_required: true,
          placeholder: 'a\u202Eb',
        },
      ],
    })
    const [need] = install(entry).targets[0]?.needs ?? []
    expect([need?.description, need?.placeholder]).toEqual(['Your key[2J', 'ab'])
    const named = remote({ url: 'https://weather.example.com/{a\u202Eb}' })
    expect(hostOf(named, 'vscode').config).toMatchObject({ inputs: [{ description: 'ab' }] })
  })

  test('the title of an agent has no line breaks and no hidden characters', () => {
    const entry = { ...packaged(), name: 'Wea\u202Ether\n\u001b[31mtools' }
    expect(hostOf(entry, 'goose').config).toMatchObject({
      extensions: { weather: { description: 'Weather [31mtools' } },
    })
  })

  test.each(['null', 'true', '12', 'no'])('YAML takes the server name %s as a text', (name) => {
    const found = install({ ...packaged(), package_name: `com.example/${name}` }).targets[0]
    const text = found?.hosts.find(({ host }) => host === 'goose')?.text ?? ''
    const keys: unknown[] = []
    visit(parseDocument(text, { version: '1.1' }), {
      Pair: (_, { key }) => void keys.push(isScalar(key) && key.value),
    })
    expect(keys[1]).toBe(name)
  })

  test('hosts that do not speak SSE get a reason', () => {
    const { hosts } = install(remote({ binding: 'sse' })).targets[0] ?? { hosts: [] }
    expect(hosts.filter(({ reason }) => reason !== null).map(({ host }) => host)).toEqual([
      'claude-desktop',
      'codex',
      'lm-studio',
      'goose',
      'zed',
    ])
  })
})

describe('the links of', () => {
  const query = (link: string | null) =>
    new URL((link ?? '').replace(/^[\w-]+:(\/\/)?/, 'https://h/')).searchParams
  const decoded = (link: string | null) =>
    JSON.parse(Buffer.from(query(link).get('config') ?? '', 'base64').toString())

  test.each([
    ['vscode', 'vscode:mcp/install?', ''],
    ['vscode-insiders', 'vscode-insiders:mcp/install?', 'insiders'],
  ] as const)('%s hold the server and its prompts', (host, scheme, quality) => {
    for (const [entry, config] of [
      [packaged(withVariables), vscode.process],
      [remote(keyed), vscode.http],
    ] as const) {
      const { link, web_link } = hostOf(entry, host)
      const { servers, inputs } = config as { servers: { weather: object }; inputs: object[] }
      expect(link?.startsWith(scheme)).toBe(true)
      expect(JSON.parse(decodeURIComponent(link?.slice(scheme.length) ?? ''))).toEqual({
        name: 'weather',
        ...servers.weather,
        inputs,
      })
      const web = query(web_link)
      expect([web.get('name'), web.get('quality') ?? '']).toEqual(['weather', quality])
      expect(JSON.parse(web.get('config') ?? '')).toEqual(servers.weather)
      expect(JSON.parse(web.get('inputs') ?? '')).toEqual(inputs)
    }
  })

  test.each([
    ['cursor', 'cursor://anysphere.cursor-deeplink/mcp/install?', 'https://cursor.com/en/install-mcp?'],
    ['lm-studio', 'lmstudio://add_mcp?', 'https://lmstudio.ai/install-mcp?'],
  ] as const)('%s hold the server in base64', (host, scheme, page) => {
    for (const entry of [packaged(withVariables), remote(keyed)]) {
      const { link, web_link, config } = hostOf(entry, host)
      expect([link?.startsWith(scheme), web_link?.startsWith(page)]).toEqual([true, true])
      const { mcpServers } = config as { mcpServers: { weather: object } }
      for (const address of [link, web_link]) expect(decoded(address ?? null)).toEqual(mcpServers.weather)
      expect(query(link).get('name')).toBe('weather')
    }
  })

  test('goose name a command that it allows, and the variables that it asks for', () => {
    const environment_variables = withVariables.environment_variables.slice(0, 1)
    const { link } = hostOf(packaged({ environment_variables }), 'goose')
    const found = query(link)
    expect(link?.startsWith('goose://extension?')).toBe(true)
    expect([found.get('cmd'), found.getAll('arg'), found.getAll('env')]).toEqual([
      'npx',
      ['-y', '@example/weather@1.2.3'],
      ['WEATHER_KEY=Key of the service.'],
    ])
    expect(query(hostOf(remote(), 'goose').link).get('url')).toBe(url)
    expect(hostOf(remote(keyed), 'goose').link).toBeNull()
  })
})

describe('the command line of', () => {
  const lines = (host: HostId) =>
    wordsOf([hostOf(packaged(withVariables), host).command ?? '', hostOf(remote(keyed), host).command ?? ''])

  test('VS Code takes the server and its prompts as JSON', () => {
    const [process, http] = lines('vscode')
    for (const [words, row] of [
      [process, vscode.process],
      [http, vscode.http],
    ] as const) {
      const { servers, inputs } = row as { servers: { weather: object }; inputs: object[] }
      expect(words?.slice(0, 2)).toEqual(['code', '--add-mcp'])
      expect(JSON.parse(words?.[2] ?? '')).toEqual({ name: 'weather', ...servers.weather, inputs })
    }
  })

  test('Claude Code stores the variables, not their values', () => {
    const head = ['claude', 'mcp', 'add', '--scope', 'user']
    expect(lines('claude-code')).toEqual([
      [
        ...[...head, 'weather', '--env', 'WEATHER_KEY=${WEATHER_KEY}', '--env', 'UNITS=metric', '--', 'npx'],
        ...args('${MCP_WEATHER_491B5DB4243C6A71_TOWN}'),
      ],
      [
        ...head,
        '--transport',
        'http',
        'weather',
        url,
        '--header',
        'Authorization: Bearer ${MCP_WEATHER_491B5DB4243C6A71_KEY}',
      ],
    ])
  })

  test('Gemini CLI has the arguments of the package after two dashes', () => {
    const head = ['gemini', 'mcp', 'add', '--scope', 'user']
    expect(lines('gemini-cli')).toEqual([
      [
        ...[...head, 'weather', 'npx', '--env', 'WEATHER_KEY=${WEATHER_KEY}', '--env', 'UNITS=metric', '--'],
        ...args('${MCP_WEATHER_491B5DB4243C6A71_TOWN}'),
      ],
      [
        ...head,
        '--transport',
        'http',
        'weather',
        url,
        '--header',
        'Authorization: Bearer ${MCP_WEATHER_491B5DB4243C6A71_KEY}',
      ],
    ])
  })

  test('Codex is there where no value would be stored', () => {
    const [line] = wordsOf([
      hostOf(packaged({ package_arguments: [{ type: 'positional', value: odd }] }), 'codex').command ?? '',
    ])
    expect(line).toEqual(['codex', 'mcp', 'add', 'weather', '--', 'npx', '-y', '@example/weather@1.2.3', odd])
    expect(hostOf(packaged(withVariables), 'codex').command).toBeNull()
    expect(wordsOf([hostOf(remote(keyed), 'codex').command ?? ''])[0]).toEqual([
      'codex',
      'mcp',
      'add',
      'weather',
      '--url',
      url,
      '--bearer-token-env-var',
      'MCP_WEATHER_491B5DB4243C6A71_KEY',
    ])
  })
})

describe('the command of a package', () => {
  const process = (more: object) => {
    const {
      command,
      args,
      env = {},
    } = JSON.parse(hostOf(packaged(more), 'cursor').text ?? '').mcpServers.weather
    return [command, ...args, env]
  }
  const image = { registry_type: 'oci', identifier: 'ghcr.io/example/weather' }

  test.each<[string, object, unknown[]]>([
    ['npm', {}, ['npx', '-y', '@example/weather@1.2.3', {}]],
    ['npm by bun', { runtime_hint: 'bun' }, ['bunx', '@example/weather@1.2.3', {}]],
    [
      'npm by a program that nobody knows',
      { runtime_hint: '/tmp/evil' },
      ['npx', '-y', '@example/weather@1.2.3', {}],
    ],
    [
      'npm in the registry that is the default',
      { registry_base_url: 'https://registry.npmjs.org/' },
      ['npx', '-y', '@example/weather@1.2.3', {}],
    ],
    ['PyPI', { registry_type: 'pypi', identifier: 'weather' }, ['uvx', 'weather==1.2.3', {}]],
    [
      'PyPI by pipx',
      { registry_type: 'pypi', identifier: 'weather', runtime_hint: 'pipx' },
      ['pipx', 'run', 'weather==1.2.3', {}],
    ],
    [
      'NuGet',
      { registry_type: 'nuget', identifier: 'Example.Weather' },
      ['dnx', 'Example.Weather@1.2.3', '--yes', '--', {}],
    ],
    ['an image', image, ['docker', 'run', '-i', '--rm', 'ghcr.io/example/weather:1.2.3', {}]],
    [
      'an image with a tag',
      { ...image, identifier: 'example/weather:4' },
      ['docker', 'run', '-i', '--rm', 'example/weather:4', {}],
    ],
    [
      'an image without its registry',
      { ...image, identifier: 'example/weather', registry_base_url: 'https://ghcr.io' },
      ['docker', 'run', '-i', '--rm', 'ghcr.io/example/weather:1.2.3', {}],
    ],
    [
      'an image with variables, which are not in its arguments',
      { ...image, environment_variables: [{ name: 'KEY', is_required: true, is_secret: true }] },
      ['docker', 'run', '-i', '--rm', '-e', 'KEY', 'ghcr.io/example/weather:1.2.3', { KEY: '${env:KEY}' }],
    ],
    [
      'an image whose arguments repeat the command',
      {
        ...image,
        runtime_arguments: [
          { type: 'positional', value: 'run' },
          { type: 'named', name: '-i' },
          { type: 'named', name: '-e' },
          { type: 'positional', value: 'KEY' },
          { type: 'named', name: '-p', value: '8080:80' },
          { type: 'named', name: '-v', value: '{data}:/data', variables: { data: { is_required: true } } },
          { type: 'positional', value: 'ghcr.io/example/weather:latest' },
          { type: 'positional', value: '--verbose' },
        ],
      },
      [
        ...[
          'docker',
          'run',
          '-i',
          '--rm',
          '-p',
          '127.0.0.1:8080:80',
          '-v',
          '${env:MCP_WEATHER_491B5DB4243C6A71_DATA}:/data',
          '-e',
          'KEY',
        ],
        ...['ghcr.io/example/weather:1.2.3', '--verbose', { KEY: '${env:KEY}' }],
      ],
    ],
    [
      'arguments after the package',
      {
        package_arguments: [
          { type: 'named', name: '--port', value: '80' },
          { type: 'named', name: '--fast', format: 'boolean', value: 'true' },
          { type: 'named', name: '--slow', format: 'boolean', value: 'false' },
          { type: 'named', name: '--maybe' },
        ],
      },
      ['npx', '-y', '@example/weather@1.2.3', '--port', '80', '--fast', {}],
    ],
  ])('%s', (_, more, expected) => {
    expect(process(more)).toEqual(expected)
  })

  test('that answers at an address is started by hand, with the values as variables of the shell', () => {
    const entry = packaged({
      transport: {
        type: 'streamable-http',
        url: 'http://127.0.0.1:{port}/mcp',
        variables: { port: { default: '3000' } },
      },
      environment_variables: [{ name: 'KEY', is_required: true, is_secret: true }],
      package_arguments: [{ type: 'named', name: '--dir', value: "{dir}/it's" }],
    })
    const [target] = install(entry).targets
    expect(target?.start).toBe(
      `KEY="\${KEY}" npx -y @example/weather@1.2.3 --dir "\${MCP_WEATHER_491B5DB4243C6A71_DIR}"'/it'\\''s'`,
    )
    const line = target?.start?.replace('KEY="${KEY}" ', '') ?? ''
    expect(wordsOf([line], { MCP_WEATHER_491B5DB4243C6A71_DIR: '/a b; x' })[0]?.at(-1)).toBe("/a b; x/it's")
    expect(JSON.parse(hostOf(entry, 'cursor').text ?? '').mcpServers.weather).toEqual({
      url: 'http://127.0.0.1:3000/mcp',
    })
  })

  test('a bundle is downloaded and checked, for Claude Desktop alone', () => {
    const file_sha256 = 'a'.repeat(64)
    const identifier = 'https://github.com/example/weather/releases/download/v1/weather.mcpb'
    const [target] = install(packaged({ registry_type: 'mcpb', identifier, file_sha256 })).targets
    const usable = target?.hosts.filter(({ reason }) => reason === null) ?? []
    expect(usable.map(({ host }) => host)).toEqual(['claude-desktop'])
    expect(usable[0]?.command).toBe(
      `curl -fsSLo weather.mcpb ${identifier} && echo '${file_sha256}  weather.mcpb' | sha256sum -c -`,
    )
  })
})

describe('what can be installed', () => {
  test('is each remote, each package, and the gateway, the most direct first', () => {
    const mcp = { protocol: 'mcp' as const, url }
    const npm = { registry_type: 'npm', identifier: 'a' }
    const { targets } = install(installed({ endpoints: [mcp, mcp], packages: [npm, npm] }))
    expect(targets.map(({ target }) => target)).toEqual([
      'remote',
      'remote-2',
      'package',
      'package-2',
      'gateway',
    ])
    expect(targets[4]?.hosts.find(({ host }) => host === 'claude-code')?.command).toBe(
      `claude mcp add --scope user --transport http weather https://gateway.example/mcp/agents/com.example.weather`,
    )
  })

  test('an A2A agent is installed through the gateway', () => {
    const endpoints = [{ protocol: 'a2a' as const, url: 'https://a.example.com/' }]
    expect(install(installed({ endpoints })).targets.map(({ kind }) => kind)).toEqual(['gateway'])
  })

  test('through the gateway no suspended agent is installed', () => {
    const { refused } = install({ ...remote(), suspended: { reason: 'Bad.', at: '2026-01-01T00:00:00Z' } })
    expect(refused).toMatchObject([{ target: 'gateway', pointer: '/suspended' }])
  })

  test('of a deprecated agent the reason and the successor are said', () => {
    const at = '2026-01-01T00:00:00Z'
    const noteOf = (message: string | null, successor: string | null) =>
      install({ ...remote(), deprecated: { message, successor, at } }).targets[0]?.notes
    expect(noteOf(null, null)).toEqual(['The agent is deprecated.'])
    expect(noteOf('Too\nold.', 'com.example.new')).toEqual([
      'The agent is deprecated. Its owner says: "Too old." Its successor is com.example.new.',
    ])
  })

  test('in STAGE the gateway is refused, and the others are still there', () => {
    const { targets, refused } = install({ ...remote(), state: 'STAGE' })
    expect(targets.map(({ target }) => target)).toEqual(['remote'])
    expect(refused).toMatchObject([
      { target: 'gateway', code: 'not_installable', pointer: '/state', hint: 'Take it live first.' },
    ])
  })

  test('an address that asks for a key without naming the header gets the usual one', () => {
    const { targets } = install({ ...remote(), callable: 'needs_key' })
    expect(targets[0]?.needs).toMatchObject([
      { part: 'header', secret: true, variable: 'MCP_WEATHER_491B5DB4243C6A71_KEY' },
    ])
    expect(targets[0]?.notes[0]).toContain('usual')
  })

  test('values that may be left out are listed and not asked for', () => {
    const [target] = install(packaged(withVariables)).targets
    expect(target?.optional).toMatchObject([
      { name: 'CACHE', required: false, description: 'Folder of the cache.' },
    ])
    expect(target?.needs.map(({ name }) => name)).toEqual(['--town', 'WEATHER_KEY'])
  })

  test.each([
    ['com.example.weather', 'weather'],
    ['io.github.user/server', 'user-server'],
    ['com.example/my_tool', 'my_tool'],
    ['npm.scope/x', 'x'],
  ])('%s is the server %s', (package_name, name) => {
    expect(install({ ...remote(), package_name }).name).toBe(name)
  })
})
