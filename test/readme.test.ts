import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { facetNames, filterShape } from '../schemas/entry-fields.ts'
import { hostIds } from '../schemas/install.ts'
import { LivenessStatus } from '../schemas/liveness.ts'
import { settings } from '../src/app/settings.ts'
import { remedies } from '../src/cli/checks.ts'
import { routes } from '../src/transports/http/routes.ts'
import { run, temporaryFolder } from './support/command.ts'
import { blocks, guideOf, shell } from './support/documents.ts'
import { startGateway } from './support/gateway.ts'
import { replay } from './support/replay.ts'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const settingsTable = guideOf('reference/settings.md')
const paths = guideOf('reference/http.md')

const commands = blocks(readme).filter(({ info, code }) => info === 'sh' && code.startsWith('curl'))

describe('the README', () => {
  test('has at most 130 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(130)
  })

  test('every request in it is answered as it says', async () => {
    await using page = await replay({
      'GET /': { headers: { 'Content-Type': 'text/html' }, body: '<html><body><p>A page.</p></body></html>' },
    })
    await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: page.url })
    const token = await home.token('me')
    expect(commands.length).toBeGreaterThanOrEqual(5)
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
    expect((await home.request('GET', '/public/agents?q=clean+markdown&limit=1')).json).toMatchObject(list)
    expect((await home.request('GET', '/public/agents?tag=x')).json).toMatchObject(problem)
  })

  test('every setting is in the table of settings, with what it is for', () => {
    const rows = settingsTable.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))
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

  test('every filter of lists is in its table', () => {
    const row = paths.split('\n').find((line) => line.startsWith('| `GET /public/agents`'))
    const [, listed = ''] = /search: `([^`]*)`/.exec(row ?? '') ?? []
    const route = routes.find(({ method, path }) => method === 'get' && path === '/public/agents')
    expect(listed.split(', ').toSorted()).toEqual(Object.keys(route?.query ?? {}).toSorted())
  })

  test('every filter and every count of searches is in docs/search.md', () => {
    const rows = guideOf('search.md').split('\n')
    const names = rows.flatMap((row) => [
      ...(row.match(/^\| (`\w+`(?:, `\w+`)*) \|/)?.[1] ?? '').matchAll(/\w+/g),
    ])
    expect(names.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(filterShape)))
    const counted = rows.find((row) => row.startsWith('| `facets` |'))
    for (const name of facetNames) expect(counted).toContain(`\`${name}\``)
  })

  test('its token command prints a token that works', async () => {
    await using folder = await temporaryFolder()
    const { stdout } = await run(['token', 'create'], { DRAGOMAN_DATA: folder.path })
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
    expect(
      (await home.request('POST', '/a2a/discover', { token: stdout.trim(), body: { query: 'wiki' } })).status,
    ).toBe(200)
  })

  test('the commands that it names are those of --help', async () => {
    const { stdout } = await run(['--help'], {})
    const named = [...readme.matchAll(/(?:`|\$\()dragoman ([a-z-]+)/g)].map(([, name = '']) => name)
    expect(new Set(named)).toEqual(new Set(['token', 'mirror', 'search', 'install']))
    for (const name of named) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })

  test('each host of install has a line', () => {
    const named = [...readme.matchAll(/^\| .* \| `dragoman install --host ([a-z-]+)` \|$/gm)].map(
      ([, id]) => id,
    )
    expect(named.toSorted()).toEqual(
      hostIds.filter((id) => id !== 'json' && id !== 'vscode-insiders').toSorted(),
    )
  })

  test('its picture shows commands that exist', async () => {
    const picture = readFileSync(join(root, 'docs/pictures/terminal.svg'), 'utf8')
    const { stdout } = await run(['--help'], {})
    const shown = [...picture.matchAll(/dragoman ([a-z-]+) /g)].map(([, name = '']) => name)
    expect(new Set(shown)).toEqual(new Set(['search', 'call', 'resolve']))
    for (const name of shown) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })
})

describe('the documents', () => {
  test('every reason of /readyz is in the table of docs/monitoring.md, with what doctor says of it', () => {
    const rows = guideOf('monitoring.md').matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm)
    const stated = Object.fromEntries([...rows].map(([, reason, remedy]) => [reason, remedy]))
    expect(stated).toMatchObject(remedies)
  })

  test('the glossary names every status of liveness', () => {
    const [row = ''] = /^\| liveness \|.*$/m.exec(guideOf('glossary.md')) ?? []
    for (const status of LivenessStatus.options) expect(row).toContain(`\`${status}\``)
  })

  test('the table of scopes names every action that agents:read permits', async () => {
    await using home = await startGateway()
    const [row = ''] = /^\| `agents:read` \|.*$/m.exec(guideOf('authentication.md')) ?? []
    const actions = home.gateway.agents.flatMap((agent) => agent.actions)
    const readers = actions.filter(
      ({ access }) => typeof access === 'object' && access.scope === 'agents:read',
    )
    expect(readers.length).toBeGreaterThan(3)
    for (const { name } of readers) expect(row).toContain(`\`${name}\``)
  })

  const documents = globSync(['*.md', 'docs/**/*.md', '{agents,scripts,src}/**/README.md'], { cwd: root })
  /** Files that the guides have the reader create. */
  const created = ['agents/dice/', 'src/transports/lines/', 'test/support/line-transport.ts']

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
