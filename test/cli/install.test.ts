// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts put values in the place of such texts
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parse as parseToml } from 'smol-toml'
import { afterAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { pathOf, readHostFile, writeHostFile } from '../../src/cli/install/host-file.ts'
import { hosts } from '../../src/registry/install/hosts.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script')
const home = await startGateway()
await list(home, {
  package_name: 'com.example.weather',
  endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp' }],
  packages: [
    {
      registry_type: 'npm',
      identifier: '@example/weather',
      version: '1.2.3',
      environment_variables: [
        { name: 'WEATHER_KEY', is_required: true, is_secret: true },
        { name: 'WEATHER_CACHE' },
      ],
    },
  ],
})
await list(home, {
  package_name: 'net.evil.weather',
  packages: [
    {
      registry_type: 'npm',
      identifier: '@evil/weather',
      version: '1.2.3',
      environment_variables: [{ name: 'WEATHER_KEY', is_required: true, is_secret: true }],
    },
  ],
  capabilities: [{ name: 'act', description: 'Acts.' }],
})
await list(home, {
  package_name: 'com.example.hostile',
  capabilities: [{ name: 'act', description: 'Acts.' }],
  packages: [
    {
      registry_type: 'npm',
      identifier: 'x',
      environment_variables: [{ name: 'NODE_OPTIONS', value: '-r x' }],
    },
  ],
})
afterAll(() => home[Symbol.asyncDispose]())

/** A user's home with files in it, and the command line of that user. */
async function user(files: Record<string, string> = {}, settings: Record<string, string> = {}) {
  const folder = await temporaryFolder()
  const at = (path: string) => join(folder.path, path)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), text)
  }
  return {
    at,
    read: (path: string) => readFile(at(path), 'utf8'),
    files: async () =>
      (await readdir(folder.path, { recursive: true, withFileTypes: true }))
        .filter((entry) => !entry.isDirectory())
        .map(({ name }) => name),
    install: (...args: string[]) =>
      run(['install', ...args], { HOME: folder.path, DRAGOMAN_URL: home.url, ...settings }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const weather = ['com.example.weather', '--host']
const paths = {
  vscode: '.config/Code/User/mcp.json',
  'vscode-insiders': '.config/Code - Insiders/User/mcp.json',
  cursor: '.cursor/mcp.json',
  'claude-code': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  codex: '.codex/config.toml',
  'gemini-cli': '.gemini/settings.json',
  'lm-studio': '.lmstudio/mcp.json',
  zed: '.config/zed/settings.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  goose: '.config/goose/config.yaml',
}
const readers: Partial<Record<string, (text: string) => unknown>> = { codex: parseToml, goose: parseYaml }

describe('install', () => {
  test.each(Object.entries(paths))(
    '%s: writes its file, a second run changes nothing, --remove takes the server out',
    async (host, path) => {
      await using ada = await user()
      const read = readers[host] ?? JSON.parse
      const first = await ada.install(...weather, host, '--yes')
      expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`+++ ${ada.at(path)}`)])
      const written = await ada.read(path)
      expect(JSON.stringify(read(written))).toContain(
        host === 'claude-desktop' ? '@example/weather@1.2.3' : 'https://weather.example.com/mcp',
      )
      const second = await ada.install(...weather, host, '--yes')
      expect([second.code, second.stdout, second.stderr]).toEqual([
        0,
        '',
        expect.stringContaining('Nothing to change'),
      ])
      expect([await ada.read(path), (await ada.files()).length]).toEqual([written, 1])
      const removed = await ada.install(...weather, host, '--remove', '--yes')
      expect([removed.code, await ada.read(path)]).toEqual([0, expect.not.stringContaining('weather')])
      read(await ada.read(path))
      expect(await ada.read(`${path}.dragoman-backup`)).toBe(written)
      expect((await ada.install(...weather, host, '--remove', '--yes')).stderr).toContain('Nothing to change')
    },
  )

  test('--dry-run shows the change and writes nothing', async () => {
    await using ada = await user()
    const { code, stdout, stderr } = await ada.install(...weather, 'cursor', '--dry-run')
    expect([code, stderr]).toEqual([0, expect.stringContaining('Nothing was written')])
    expect(stdout).toBe(
      [
        `--- ${ada.at('.cursor/mcp.json')}`,
        `+++ ${ada.at('.cursor/mcp.json')}`,
        '@@ -0,0 +1,7 @@',
        '+{',
        '+  "mcpServers": {',
        '+    "weather": {',
        '+      "url": "https://weather.example.com/mcp"',
        '+    }',
        '+  }',
        '+}',
        '',
      ].join('\n'),
    )
    expect(await ada.files()).toEqual([])
  })

  test('without --yes and without a terminal nothing is written', async () => {
    await using ada = await user()
    const { code, stderr } = await ada.install(...weather, 'cursor')
    expect([code, stderr]).toEqual([2, expect.stringContaining('give --yes')])
    expect(await ada.files()).toEqual([])
  })

  test.skipIf(!hasTerminal).each([
    ['y', ['mcp.json']],
    ['n', []],
    ['', []],
  ])(
    `at a terminal it asks, and %j writes %j${hasTerminal ? '' : ' (skipped: script is not here)'}`,
    async (answer, files) => {
      await using ada = await user()
      const line = [process.execPath, command, 'install', ...weather, 'cursor']
        .map((word) => `'${word}'`)
        .join(' ')
      const env = { PATH: process.env.PATH, HOME: ada.at(''), DRAGOMAN_URL: home.url }
      const running = promisify(execFile)('script', ['-qec', line, '/dev/null'], { env })
      running.child.stdin?.end(`${answer}\n`)
      const { stdout } = await running
      expect(stdout).toContain('Write this to')
      expect(stdout).toContain(files.length > 0 ? 'Wrote' : 'Nothing was written')
      expect(await ada.files()).toEqual(files)
    },
  )

  test('keeps comments, order and all other members as they stand', async () => {
    const before =
      '// mine\r\n{\r\n\t"z": 1.0, // last letter\r\n\t"servers": {\r\n\t\t"other": { "command": "x", "args": [] }, // old\r\n\t\t/* end */\r\n\t},\r\n\t"a": 12345678901234567890,\r\n}\r\n'
    await using ada = await user({ [paths.vscode]: before })
    expect((await ada.install(...weather, 'vscode', '--target', 'package', '--yes')).code).toBe(0)
    const after = await ada.read(paths.vscode)
    for (const line of before.split('\r\n')) expect(after).toContain(line)
    expect(after.replaceAll('\r\n', '')).not.toContain('\n')
    expect(after).toContain('\t\t"weather": {\r\n\t\t\t"type": "stdio",')
    expect((await ada.install(...weather, 'vscode', '--target', 'package', '--yes')).stderr).toContain(
      'Nothing to change',
    )
    await ada.install(...weather, 'vscode', '--remove', '--yes')
    // The comma after the last member goes with what followed it.
    const prompts = '890,\r\n\t"inputs": []\r\n}'
    const expected = before.replace('890,\r\n}', prompts).replace('}, // old', '} // old')
    expect(await ada.read(paths.vscode)).toBe(expected)
  })

  test('removes only the prompts that no other server uses', async () => {
    await using ada = await user()
    await ada.install(...weather, 'vscode', '--target', 'package', '--yes')
    const file = JSON.parse(await ada.read(paths.vscode))
    expect(file.inputs.map(({ id }: { id: string }) => id)).toEqual(['weather-491b5db4243c6a71-weather-key'])
    file.inputs.push({ id: 'mine', type: 'promptString' })
    file.servers.other = { command: '${input:weather-491b5db4243c6a71-weather-key}' }
    await writeFile(ada.at(paths.vscode), JSON.stringify(file))
    await ada.install(...weather, 'vscode', '--remove', '--yes')
    expect(JSON.parse(await ada.read(paths.vscode))).toEqual({
      inputs: file.inputs,
      servers: { other: file.servers.other },
    })
  })

  test('a file of TOML and a file of YAML keep their comments and their other tables', async () => {
    const toml =
      'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "a"\nargs = [\n  ["b"]\n]\n\n# profiles\n[profiles.one]\nmodel = "y"\n'
    const yaml =
      'GOOSE_MODE: auto # mine\nextensions:\n    # built in\n    developer:\n        enabled: true\n\n# end\nlast: 1\n'
    await using ada = await user({ [paths.codex]: toml, [paths.goose]: yaml })
    for (const host of ['codex', 'goose']) await ada.install(...weather, host, '--target', 'package', '--yes')
    const [codex, goose] = [await ada.read(paths.codex), await ada.read(paths.goose)]
    expect(codex.startsWith(toml)).toBe(true)
    expect(parseToml(codex)).toMatchObject({
      mcp_servers: { other: {}, weather: { env_vars: ['WEATHER_KEY'] } },
      profiles: {},
    })
    expect(parseYaml(goose)).toMatchObject({
      last: 1,
      extensions: { developer: { enabled: true }, weather: { cmd: 'npx', env_keys: ['WEATHER_KEY'] } },
    })
    for (const line of yaml.split('\n')) expect(goose).toContain(line)
    for (const host of ['codex', 'goose']) {
      expect((await ada.install(...weather, host, '--target', 'package', '--yes')).stderr).toContain(
        'Nothing to change',
      )
      await ada.install(...weather, host, '--remove', '--yes')
    }
    expect([(await ada.read(paths.codex)).trim(), await ada.read(paths.goose)]).toEqual([toml.trim(), yaml])
  })

  test.each([
    ['codex', 'x = """\n[mcp_servers.weather]\n"""\n', 'several lines'],
    ['codex', 'mcp_servers = { weather = { command = "x" } }\n', 'another form'],
    ['codex', '[mcp_servers]\nweather = { command = "x" }\n', 'another form'],
    ['codex', 'mcp_servers.weather.command = "x"\n', 'another form'],
    ['goose', 'extensions: { a: { enabled: true } }\n', 'not a mapping of lines'],
    ['goose', 'a: 1\n---\nb: 2\n---\nc: 3\n', 'several documents'],
    ['codex', 'a = \n', 'Line 1 is not TOML'],
    ['codex', 'a = [\n', 'brackets are not even'],
    ['goose', '{extensions: {b: {cmd: 1}}}\n', 'Line 1 is not a member'],
    ['goose', '- a\n', 'not a mapping'],
    ['goose', 'extensions:\n- a\n', 'is a list'],
    ['goose', 'extensions:\n  ? weather\n  : {cmd: x}\n', 'not its members'],
    ['goose', 'extensions:\n  weather : {cmd: x}\n', 'not its members'],
    ['cursor', '{ "mcpServers": [] }\n', 'not an object'],
    ['cursor', '[]\n', 'not an object'],
    ['cursor', '{ "a": 1\n', 'not JSON: line 2'],
    ['cursor', '{ "a": 1 /* \n', 'not JSON: line 1'],
    ['cursor', '\u0000\ufffd', 'not JSON'],
  ] as const)('%s: a file that cannot be changed safely stays as it is: %j', async (host, text, reason) => {
    await using ada = await user({ [paths[host]]: text })
    const { code, stderr } = await ada.install(...weather, host, '--yes')
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
    expect([await ada.read(paths[host]), (await ada.files()).length]).toEqual([text, 1])
  })

  test('refuses symbolic links, read-only files and bytes that are no text', async () => {
    await using ada = await user({ 'real.json': '{}', '.cursor/mcp.json': '{}', '.lmstudio/mcp.json': '' })
    await mkdir(ada.at('.gemini'))
    await symlink(ada.at('real.json'), ada.at('.gemini/settings.json'))
    await symlink(ada.at('nowhere'), ada.at('.claude.json'))
    await chmod(ada.at('.cursor/mcp.json'), 0o444)
    await writeFile(ada.at('.lmstudio/mcp.json'), Buffer.from([0x7b, 0xff, 0x7d]))
    for (const [host, reason] of [
      ['gemini-cli', 'is a symbolic link'],
      ['claude-code', 'is a symbolic link'],
      ['cursor', 'is read-only'],
      ['lm-studio', 'is not text in UTF-8'],
    ] as const) {
      const { code, stderr } = await ada.install(...weather, host, '--yes')
      expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
    }
    expect([await ada.read('real.json'), await ada.read('.cursor/mcp.json')]).toEqual(['{}', '{}'])
    expect((await ada.files()).filter((name) => name.includes('dragoman') || name.includes('part'))).toEqual(
      [],
    )
  })

  test('the mode of the file stays, and the backup has it too', async () => {
    for (const mode of [0o600, 0o644]) {
      await using ada = await user({ '.cursor/mcp.json': '{}' })
      await chmod(ada.at('.cursor/mcp.json'), mode)
      await ada.install(...weather, 'cursor', '--yes')
      for (const path of ['.cursor/mcp.json', '.cursor/mcp.json.dragoman-backup']) {
        expect((await lstat(ada.at(path))).mode & 0o777).toBe(mode)
      }
      expect(await ada.read('.cursor/mcp.json.dragoman-backup')).toBe('{}')
    }
  })

  test('a file that changed after it was read is not written', async () => {
    await using ada = await user({ 'a.json': '{}' })
    const file = await readHostFile(ada.at('a.json'), 'user')
    const absent = await readHostFile(ada.at('b.json'), 'user')
    for (const name of ['a.json', 'b.json']) await writeFile(ada.at(name), '{"mine": 1}')
    for (const stale of [file, absent]) {
      await expect(writeHostFile(stale, '{"x": 1}')).rejects.toThrow('has changed in the meantime')
    }
    expect([await ada.read('a.json'), await ada.read('b.json')]).toEqual(['{"mine": 1}', '{"mine": 1}'])
    expect((await ada.files()).toSorted()).toEqual(['a.json', 'b.json'])
  })

  test('of two changes at once, only those that were written are said to be', async () => {
    await using ada = await user({ 'a.json': '{}' })
    const file = await readHostFile(ada.at('a.json'), 'user')
    const texts = ['{"x": 1}', '{"x": 2}', '{"x": 3}']
    const outcomes = await Promise.allSettled(texts.map((text) => writeHostFile(file, text)))
    const written = texts.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    expect(written).toEqual([await ada.read('a.json')])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason.message).toMatch(/another command|in the meantime/)
    }
    expect((await ada.files()).toSorted()).toEqual(['a.json', 'a.json.dragoman-backup'])
  })

  test('a backup that cannot be made leaves the file as it was and nothing beside it', async () => {
    await using ada = await user({ 'a.json': '{}', 'a.json.dragoman-backup/inner': '' })
    const file = await readHostFile(ada.at('a.json'), 'user')
    await expect(writeHostFile(file, '{"x": 1}')).rejects.toThrow('cannot be written')
    expect([await ada.read('a.json'), (await ada.files()).toSorted()]).toEqual(['{}', ['a.json', 'inner']])
  })

  test('without a host it says where the hosts are listed', async () => {
    await using ada = await user()
    const { code, stderr } = await ada.install('com.example.weather')
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('dragoman install --help shows its arguments'),
    ])
  })

  test('a server that is not there cannot be removed, which is said', async () => {
    await using ada = await user({ '.cursor/mcp.json': '{}' })
    const { code, stderr } = await ada.install(...weather, 'cursor', '--remove', '--yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining('has no server weather.')])
  })

  test.each(Object.entries(paths))(
    '%s: --remove refuses a server of the name that is not of the agent, and says how to remove it',
    async (host, path) => {
      await using ada = await user()
      await ada.install('net.evil.weather', '--host', host, '--yes')
      const before = await ada.read(path)
      const { code, stderr } = await ada.install(...weather, host, '--remove', '--yes')
      expect([code, await ada.read(path)]).toEqual([1, before])
      expect(stderr).toContain(
        `The server weather in ${ada.at(path)} is not what com.example.weather installs.`,
      )
      expect(stderr).toContain('add --replace')
      expect((await ada.install(...weather, host, '--remove', '--replace', '--yes')).code).toBe(0)
      expect(await ada.read(path)).not.toContain('weather')
    },
  )

  test.each([
    ['cursor', paths.cursor],
    ['codex', paths.codex],
    ['goose', paths.goose],
  ])(
    '%s: --remove takes out another target and an older version, with what the user added',
    async (host, path) => {
      await using ada = await user()
      await ada.install(...weather, host, '--target', 'package', '--yes')
      const older = (await ada.read(path))
        .replace('weather@1.2.3', 'weather@0.9.0')
        .replace('<WEATHER_KEY>', 'secret')
      await writeFile(ada.at(path), older)
      const removed = await ada.install(...weather, host, '--remove', '--yes')
      expect([removed.code, await ada.read(path)]).toEqual([0, expect.not.stringContaining('weather')])
    },
  )

  test('a bundle, which is installed by hand, is not replaced by another target of the agent', async () => {
    const identifier = 'https://github.com/example/bundled/releases/download/v1/bundled.mcpb'
    await list(home, {
      package_name: 'com.example.bundled',
      capabilities: [{ name: 'act', description: 'Acts.' }],
      packages: [
        { registry_type: 'mcpb', identifier, file_sha256: 'a'.repeat(64) },
        { registry_type: 'npm', identifier: '@example/bundled', version: '1.0.0' },
      ],
    })
    await using ada = await user()
    const { code, stdout } = await ada.install('com.example.bundled', '--host', 'claude-desktop', '--yes')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^curl -fsSLo bundled\.mcpb /)])
    expect(await ada.files()).toEqual([])
  })

  test('--remove of an agent that is not listed any more says how to remove its server', async () => {
    const before = '{"mcpServers": {"gone": {"url": "https://gone.example/mcp"}}}'
    await using ada = await user({ [paths.cursor]: before })
    const gone = ['com.example.gone', '--host', 'cursor', '--remove', '--yes']
    const { code, stderr } = await ada.install(...gone)
    expect([code, await ada.read(paths.cursor)]).toEqual([4, before])
    expect(stderr).toContain('add --replace')
    expect((await ada.install(...gone, '--replace')).code).toBe(0)
    expect(await ada.read(paths.cursor)).not.toContain('gone')
  })

  test('a server that a person named as this gateway is not removed as its own', async () => {
    const before = '{"mcpServers": {"dragoman": {"command": "mine"}}}'
    await using ada = await user({ [paths.cursor]: before })
    const own = ['--host', 'cursor', '--remove', '--yes']
    const { code, stderr } = await ada.install(...own)
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not what this gateway installs')])
    await ada.install('--host', 'cursor', '--replace', '--yes')
    expect((await ada.install(...own)).code).toBe(0)
    expect(JSON.parse(await ada.read(paths.cursor))).toEqual({ mcpServers: {} })
  })

  test('a target that the agent lacks is answered once, with those that it has', async () => {
    await using ada = await user()
    const { code, stderr } = await ada.install(...weather, 'cursor', '--target', 'package-9', '--dry-run')
    expect(code).toBe(4)
    expect(stderr.match(/It has: remote, package, gateway\./g)).toHaveLength(1)
  })

  test('says which target it is, what is left out, and where the token of the gateway comes from', async () => {
    await using ada = await user()
    const notes = async (target: string, host = 'cursor') =>
      (await ada.install(...weather, host, '--dry-run', '--target', target)).stderr
    const first = (await ada.install(...weather, 'cursor', '--dry-run')).stderr
    expect(first).toContain('Target: remote. --target also takes package, gateway.')
    const desktop = await ada.install(...weather, 'claude-desktop', '--dry-run')
    expect(desktop.stderr).not.toContain('--target')
    expect(await notes('package')).toContain(
      'It takes these values too, which are left out: WEATHER_CACHE (environment).',
    )
    expect(await notes('gateway')).toContain('Cursor opens a page to sign in')
    expect(await notes('gateway', 'lm-studio')).toContain('dragoman token create')
    expect(await notes('remote')).not.toContain('dragoman token create')
  })

  test('each system has its own paths', () => {
    const folders = { home: '/home', config: '/c', roaming: '/roaming', codex: undefined, claude: undefined }
    const pathFor = (id: 'goose' | 'claude-desktop' | 'cursor', platform: NodeJS.Platform) =>
      pathOf(hosts.find((host) => host.id === id)?.files ?? [], 'user', folders, platform)
    expect(pathFor('goose', 'win32')).toBe('/roaming/Block/goose/config/config.yaml')
    expect(pathFor('claude-desktop', 'win32')).toBe('/roaming/Claude/claude_desktop_config.json')
    expect(pathFor('claude-desktop', 'darwin')).toBe(
      '/home/Library/Application Support/Claude/claude_desktop_config.json',
    )
    expect(pathFor('goose', 'linux')).toBe('/c/goose/config.yaml')
    expect(pathFor('cursor', 'win32')).toBe('/home/.cursor/mcp.json')
  })

  test('--scope project writes into this folder, and not through a link of the project', async () => {
    await using ada = await user({ 'elsewhere/mcp.json': '{}' })
    await mkdir(ada.at('project'))
    await symlink(ada.at('elsewhere'), ada.at('project/.cursor'))
    const here = process.cwd()
    process.chdir(ada.at('project'))
    try {
      expect((await ada.install(...weather, 'vscode', '--scope', 'project', '--yes')).code).toBe(0)
      const linked = await ada.install(...weather, 'cursor', '--scope', 'project', '--yes')
      expect([linked.code, linked.stderr]).toEqual([1, expect.stringContaining('is a symbolic link')])
    } finally {
      process.chdir(here)
    }
    expect(JSON.parse(await ada.read('project/.vscode/mcp.json')).servers.weather.url).toBeDefined()
    expect(await ada.read('elsewhere/mcp.json')).toBe('{}')
  })

  test('folders that the environment names are used', async () => {
    await using ada = await user()
    const install = (host: string, settings: Record<string, string>) =>
      run(['install', ...weather, host, '--yes'], {
        HOME: ada.at('home'),
        DRAGOMAN_URL: home.url,
        ...settings,
      })
    await install('codex', { CODEX_HOME: ada.at('codex') })
    await install('claude-code', { CLAUDE_CONFIG_DIR: ada.at('claude') })
    await install('goose', { XDG_CONFIG_HOME: ada.at('config') })
    for (const path of ['codex/config.toml', 'claude/.claude.json', 'config/goose/config.yaml']) {
      expect(await ada.read(path)).toContain('weather.example.com')
    }
  })

  test('another server of the name is replaced only on request', async () => {
    await using ada = await user({ '.cursor/mcp.json': '{"mcpServers": {"weather": {"command": "mine"}}}' })
    const refused = await ada.install(...weather, 'cursor', '--yes')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('another server weather')])
    expect((await ada.install(...weather, 'cursor', '--name', 'weather2', '--yes')).code).toBe(0)
    expect((await ada.install(...weather, 'cursor', '--replace', '--yes')).code).toBe(0)
    const url = 'https://weather.example.com/mcp'
    expect(JSON.parse(await ada.read('.cursor/mcp.json')).mcpServers).toEqual({
      weather: { url },
      weather2: { url },
    })
  })

  test('what the user has filled in and added stays', async () => {
    await using ada = await user()
    await ada.install(...weather, 'claude-desktop', '--yes')
    const path = paths['claude-desktop']
    const file = JSON.parse(await ada.read(path))
    expect(file.mcpServers.weather.env).toEqual({ WEATHER_KEY: '<WEATHER_KEY>' })
    Object.assign(file.mcpServers.weather, { env: { WEATHER_KEY: 'secret', MORE: '1' }, disabled: true })
    await writeFile(ada.at(path), JSON.stringify(file))
    const again = await ada.install(...weather, 'claude-desktop', '--yes')
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to change')])
    expect(JSON.parse(await ada.read(path))).toEqual(file)
  })

  test('another agent that takes the name gets nothing that the user filled in', async () => {
    await using ada = await user()
    await ada.install(...weather, 'claude-desktop', '--yes')
    const path = paths['claude-desktop']
    const file = JSON.parse(await ada.read(path))
    file.mcpServers.weather.env = { WEATHER_KEY: 'secret', OTHER_KEY: 'secret' }
    await writeFile(ada.at(path), JSON.stringify(file))
    const replaced = await ada.install('net.evil.weather', '--host', 'claude-desktop', '--yes', '--replace')
    expect(replaced.code).toBe(0)
    expect(JSON.parse(await ada.read(path)).mcpServers.weather).toEqual({
      command: 'npx',
      args: ['-y', '@evil/weather@1.2.3'],
      env: { WEATHER_KEY: '<WEATHER_KEY>' },
    })
  })

  test('a new version of the agent keeps what the user filled in', async () => {
    await using ada = await user()
    await ada.install(...weather, 'claude-desktop', '--yes')
    const path = paths['claude-desktop']
    const file = JSON.parse(await ada.read(path))
    file.mcpServers.weather.args = ['-y', '@example/weather@1.2.2']
    file.mcpServers.weather.env = { WEATHER_KEY: 'secret' }
    await writeFile(ada.at(path), JSON.stringify(file))
    expect((await ada.install(...weather, 'claude-desktop', '--yes', '--replace')).code).toBe(0)
    file.mcpServers.weather.args = ['-y', '@example/weather@1.2.3']
    expect(JSON.parse(await ada.read(path))).toEqual(file)
  })

  test('a host gets the first target that it can run, or the one that is asked for', async () => {
    await using ada = await user()
    const target = async (...more: string[]) =>
      JSON.parse((await ada.install(...weather, 'json', '--json', ...more)).stdout).config.mcpServers.weather
    expect(await target()).toMatchObject({ url: 'https://weather.example.com/mcp' })
    expect(await target('--target', 'package')).toMatchObject({ command: 'npx' })
    expect(await target('--target', 'gateway')).toMatchObject({
      url: `${home.url}/mcp/agents/com.example.weather`,
      headers: { Authorization: 'Bearer <DRAGOMAN_TOKEN>' },
    })
    const none = await ada.install(...weather, 'claude-desktop', '--target', 'remote', '--yes')
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('connector')])
  })

  test.each([
    [['com.example.hostile', '--host', 'cursor'], 1, 'NODE_OPTIONS'],
    [['com.example.absent', '--host', 'cursor'], 4, 'not_found'],
    [['com.example.weather', '--host', 'emacs'], 2, '--host takes'],
    [['com.example.weather', '--host', 'cursor', '--scope', 'world'], 2, '--scope takes'],
    [['com.example.weather', '--host', 'cursor', '--name', '-x y'], 2, '--name takes'],
    [['com.example.weather', '--host', 'lm-studio', '--scope', 'project'], 2, 'no file of a project'],
    [['--host', 'cursor', '--target', 'remote'], 2, 'no targets'],
    [['com.example.weather'], 2, '--host'],
  ] as const)('%j ends with %i', async (args, code, reason) => {
    await using ada = await user()
    const ended = await ada.install(...args, '--yes')
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, '', expect.stringContaining(reason)])
    expect(await ada.files()).toEqual([])
  })

  test('--json prints what was done', async () => {
    await using ada = await user()
    const { stdout } = await ada.install(...weather, 'cursor', '--yes', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      file: ada.at('.cursor/mcp.json'),
      name: 'weather',
      changed: true,
      written: true,
      backup: null,
    })
  })
})

describe('install without a name', () => {
  test('gives the process that serves the data folder', async () => {
    await using ada = await user({}, { DRAGOMAN_URL: '' })
    const data = ada.at('data')
    const settings = {
      HOME: ada.at(''),
      DRAGOMAN_DATA: data,
      DATABASE_URL: 'postgresql://me:secret@db.example/x',
    }
    const { code, stdout } = await run(['install', '--host', 'claude-code', '--yes'], settings)
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('secret')])
    // The host reads the database from the file of the settings.
    const file = join(data, 'dragoman.json')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ DATABASE_URL: settings.DATABASE_URL })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await ada.read('.claude.json')).mcpServers).toEqual({
      dragoman: {
        type: 'stdio',
        command: process.execPath,
        args: [command, 'mcp'],
        env: { DRAGOMAN_DATA: data },
      },
    })
  })

  test('lets the model manage only where the user says so', async () => {
    await using ada = await user({}, { DRAGOMAN_URL: '' })
    const settings = { HOME: ada.at(''), DRAGOMAN_DATA: ada.at('data') }
    const { code } = await run(['install', '--host', 'claude-code', '--manage', '--yes'], settings)
    expect(code).toBe(0)
    const { dragoman } = JSON.parse(await ada.read('.claude.json')).mcpServers
    expect(dragoman.args).toEqual([command, 'mcp', '--manage'])
    const other = await run(['install', 'svc.utility.wiki', '--host', 'codex', '--manage', '--yes'], settings)
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('leave the agent out')])
  })

  test('gives the running gateway that DRAGOMAN_URL names, by a bridge where the host only starts servers', async () => {
    await using ada = await user({}, { DRAGOMAN_TOKEN: 'drg_mine_secret' })
    await ada.install('--host', 'cursor', '--yes')
    await ada.install('--host', 'claude-desktop', '--yes')
    expect(JSON.parse(await ada.read('.cursor/mcp.json')).mcpServers).toEqual({
      dragoman: { url: `${home.url}/mcp` },
    })
    expect(JSON.parse(await ada.read(paths['claude-desktop'])).mcpServers).toEqual({
      dragoman: {
        command: process.execPath,
        args: [command, 'connect', `${home.url}/mcp`],
        env: { DRAGOMAN_TOKEN: '<DRAGOMAN_TOKEN>' },
      },
    })
  })
})
