import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settings } from '../src/app/config.ts'
import { routes } from '../src/transports/http/routes.ts'
import { run, temporaryFolder } from './support/command.ts'
import { startGateway } from './support/gateway.ts'
import { replay } from './support/replay.ts'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const fieldGuide = readFileSync(join(root, 'docs/adding-a-field.md'), 'utf8')
const guide = readFileSync(join(root, 'docs/adding-an-agent.md'), 'utf8')
const transportGuide = readFileSync(join(root, 'docs/adding-a-transport.md'), 'utf8')

/** Fenced blocks: their info string and their text. */
function blocks(text: string): { info: string; code: string }[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    info: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

function shell(script: string): Promise<string> {
  return new Promise((done, fail) => {
    execFile('bash', ['-euc', script], (fault, stdout, stderr) =>
      fault ? fail(new Error(`${script}\n${stderr}`)) : done(stdout),
    )
  })
}

const commands = blocks(readme).filter(({ info, code }) => info === 'sh' && code.startsWith('curl'))

describe('the README', () => {
  test('has between 150 and 220 lines', () => {
    const lines = readme.split('\n').length
    expect(lines).toBeGreaterThanOrEqual(150)
    expect(lines).toBeLessThanOrEqual(220)
  })

  test('every request in it is answered as it says', async () => {
    await using page = await replay({
      'GET /': { headers: { 'Content-Type': 'text/html' }, body: '<html><body><p>A page.</p></body></html>' },
    })
    await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: page.url })
    const token = await home.token('me')
    expect(commands.length).toBeGreaterThanOrEqual(6)
    for (const { code } of commands) {
      const here = code
        .replaceAll('http://127.0.0.1:8080', home.url)
        .replaceAll('https://example.com/', `${page.url}/`)
      const answer = JSON.parse(await shell(`TOKEN=${token}\n${here.replaceAll('curl ', 'curl -sS ')}`))
      if (code.includes('tag=x')) expect(answer.code).toBe('invalid_request')
      else expect(answer.code ?? answer.error).toBeUndefined()
    }
  }, 30_000)

  test('every answer in it is one that it gives', async () => {
    await using home = await startGateway()
    const shown = blocks(readme)
      .filter(({ info }) => info === 'json')
      .map(({ code }) => JSON.parse(code.replaceAll('http://127.0.0.1:8080', home.url)))
    const [list, problem] = shown
    expect((await home.request('GET', '/public/agents?q=encyclopedia&limit=1')).json).toMatchObject(list)
    expect((await home.request('GET', '/public/agents?tag=x')).json).toMatchObject(problem)
  })

  test('every setting is in its table, with what it is for', () => {
    const rows = readme.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))
    const listed = rows.map((line) => line.split('|').map((cell) => cell.trim()))
    expect(listed.map((cells) => cells[1]?.replaceAll('`', ''))).toEqual(Object.keys(settings))
    expect(listed.map((cells) => cells[3])).toEqual(
      Object.values(settings).map(([, description]) => description),
    )
  })

  test('every path it names is served', () => {
    for (const [, path = ''] of readme.matchAll(/`(?:GET|POST|PUT|DELETE) (\/(?:public|api|a2a)[^`{]*)`/g)) {
      const paths = ['/a2a/message', '/a2a/v1', ...routes.map((route) => route.path)]
      expect(paths).toContain(path)
    }
  })

  test('its token command prints a token that works', async () => {
    await using folder = await temporaryFolder()
    const { stdout } = await run(['token', 'create', '--sub', 'me'], { DRAGOMAN_DATA: folder.path })
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
    expect(
      (await home.request('POST', '/a2a/discover', { token: stdout.trim(), body: { query: 'wiki' } })).status,
    ).toBe(200)
  })

  test('the commands it names are those of --help', async () => {
    const { stdout } = await run(['--help'], {})
    for (const command of [
      'serve',
      'mcp',
      'import',
      'search',
      'resolve',
      'call',
      'publish',
      'token',
      'doctor',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
      expect(readme).toContain(`\`${command}`)
    }
  })
})

/** The parts of this project that a command needs, in a folder where a guide may change them. */
async function copyOfProject() {
  const folder = await temporaryFolder()
  for (const part of ['agents', 'bin', 'schemas', 'src', 'package.json']) {
    await cp(join(root, part), join(folder.path, part), { recursive: true })
  }
  for (const part of ['node_modules', 'models']) await symlink(join(root, part), join(folder.path, part))
  return {
    path: folder.path,
    /** What some command lines print, one after the other in one process: loading the modules is what takes long. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    async dragoman(...lines: string[][]): Promise<any[]> {
      const script = `
        import { main } from './src/cli/main.ts'
        for (const args of ${JSON.stringify(lines)}) {
          await main(args)
          process.stdout.write('\\0')
        }`
      const printed = await shell(
        `cd ${folder.path}; DRAGOMAN_DATA=data ${process.execPath} --input-type=module <<'END'\n${script}\nEND`,
      )
      return printed
        .split('\0')
        .slice(0, -1)
        .map((text) => JSON.parse(text))
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

describe('docs/adding-an-agent.md and docs/adding-a-field.md', () => {
  test('add an agent that every transport has, and a field that is shown, filtered and counted', async () => {
    await using project = await copyOfProject()
    for (const { info, code } of blocks(guide)) {
      const path = info.split(' ')[1]
      if (path === 'agents/index.ts') await addLine(join(project.path, path), code)
      else if (path) {
        await mkdir(dirname(join(project.path, path)), { recursive: true })
        await writeFile(join(project.path, path), code)
      }
    }
    for (const { info, code } of blocks(fieldGuide)) await applyBlock(project.path, info, code)
    const polyglot = {
      package_name: 'com.example.polyglot',
      name: 'Polyglot',
      description: 'Answers in Finnish.',
      language: 'FI',
      endpoints: [{ protocol: 'a2a', url: 'https://example.com/a2a' }],
    }
    await writeFile(join(project.path, 'agent.json'), JSON.stringify(polyglot))
    const [rolled, found, card, published, finnish, swedish] = await project.dragoman(
      ['call', 'svc.utility.dice', 'roll', '{"sides":2}'],
      ['search', 'rolls', 'dice', '--json'],
      ['resolve', 'svc.utility.dice'],
      ['publish', 'agent.json', '--live', '--json'],
      ['search', 'answers', '--language', 'fi', '--json'],
      ['search', 'answers', '--language', 'sv', '--json'],
    )
    expect([1, 2]).toContain(rolled.rolled)
    expect(found.agents[0]).toMatchObject({ package_name: 'svc.utility.dice', category: 'utilities' })
    expect(card.capabilities[0].input_schema.properties.sides.default).toBe(6)
    expect(published).toMatchObject({ language: 'fi' })
    expect(finnish.agents).toMatchObject([{ package_name: 'com.example.polyglot' }])
    expect(swedish.agents).toEqual([])
  }, 60_000)
})

describe('docs/adding-a-transport.md', () => {
  test('adds a transport that answers envelopes', async () => {
    await using project = await copyOfProject()
    for (const { info, code } of blocks(transportGuide)) {
      if (info.startsWith('ts src/')) await applyBlock(project.path, info, code)
    }
    const envelope = { to: 'svc.registry', action: 'search', params: { query: 'wiki' }, message_id: 'm-1' }
    const script = `
      import { connect } from 'node:net'
      import { createInterface } from 'node:readline'
      import { readConfig } from './src/app/config.ts'
      import { openGateway } from './src/app/gateway.ts'
      import { startLineServer } from './src/transports/lines/server.ts'
      await using gateway = await openGateway(readConfig({ DRAGOMAN_DATA: 'data', DRAGOMAN_LINES_PORT: '0' }))
      await using server = await startLineServer(gateway, '127.0.0.1', 0)
      const socket = connect(server.port)
      socket.write(${JSON.stringify(`${JSON.stringify(envelope)}\n{"to": 1}\n`)})
      let count = 0
      for await (const line of createInterface({ input: socket })) {
        console.log(line)
        if (++count === 2) break
      }
      socket.destroy()`
    const lines = await shell(
      `cd ${project.path}; ${process.execPath} --input-type=module <<'END'\n${script}\nEND`,
    )
    const answers = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toHaveLength(2)
    expect(answers).toContainEqual({
      echo: { message_id: 'm-1' },
      output: expect.objectContaining({ total: expect.any(Number) }),
    })
    expect(answers).toContainEqual({ echo: {}, error: expect.objectContaining({ code: 'invalid_request' }) })
  }, 60_000)
})

describe('the documents', () => {
  const documents = globSync(['*.md', 'docs/**/*.md', '{agents,scripts,src}/**/README.md'], { cwd: root })
  /** Files that the guides have the reader create. */
  const created = ['agents/dice/', 'src/transports/lines/']

  test.each(documents)('%s names files that exist, and links to them', (document) => {
    const text = readFileSync(join(root, document), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
    const named = [
      ...text.matchAll(/`((?:agents|bench|bin|deploy|docs|models|schemas|scripts|src|test)\/[^`\s]*)`/g),
    ]
    const paths = named
      .map(([, path = '']) => path)
      .filter((path) => !created.some((folder) => path.startsWith(folder)))
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, path = '']) =>
      join(dirname(document), path),
    )
    const missing = [...paths, ...links].filter((path) => globSync(path, { cwd: root }).length === 0)
    expect(missing).toEqual([])
  })
})

/** Writes a block `ts PATH` as a file, or inserts a block `ts PATH before "ANCHOR"` into one. */
async function applyBlock(folder: string, info: string, code: string): Promise<void> {
  const [, name = '', anchor] = /^ts (\S+)(?: before "(.+)")?$/.exec(info) ?? []
  const path = join(folder, name)
  if (anchor === undefined) {
    await mkdir(dirname(path), { recursive: true })
    return writeFile(path, code)
  }
  const text = await readFile(path, 'utf8')
  expect(text.split(anchor)).toHaveLength(2)
  await writeFile(
    path,
    text.replace(anchor, () => `${code}${anchor}`),
  )
}

async function addLine(path: string, line: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  const added = text
    .replace(/^import/m, "import { createDice } from './dice/index.ts'\nimport")
    .replace(/( {4}createPlayground\()/, `${line}$1`)
  expect(added).not.toBe(text)
  await writeFile(path, added)
}
