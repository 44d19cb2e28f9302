import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { MirrorInput, MirrorKind } from '../../../schemas/mirror.ts'
import { run, temporaryFolder } from '../../support/command.ts'
import { blocksOf, guideOf } from '../../support/documents.ts'
import { startGateway } from '../../support/gateway.ts'
import { startRegistryReplay } from '../../support/official-registry.ts'

const guide = guideOf('mirror.md')
const commands = blocksOf(guide, 'sh').flatMap((code) => code.trim().split('\n'))

/** The words of a line without quotes within words. */
const wordsOf = (line: string) => line.split(' ').map((word) => word.replaceAll("'", ''))

test('docs/mirror.md: the commands do what it says', async () => {
  const remotes = [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }]
  const server = { description: 'Forecasts.', version: '1.0.0' }
  await using registry = await startRegistryReplay([
    { ...server, name: 'com.example/weather', remotes },
    { ...server, name: 'com.example/words' },
    { ...server, name: 'org.example/weather', remotes },
  ])
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: registry.url }
  const dragoman = (line: string) => run(wordsOf(line).slice(1), environment)
  expect(commands).toHaveLength(3)
  for (const command of commands) {
    const { code, stderr } = await dragoman(command.replace('https://registry.example.com', registry.url))
    expect(code, stderr).toBe(0)
  }
  const ran = await dragoman('dragoman mirror run team')
  expect(ran.stdout).toContain('1 created')
  const listed = await dragoman('dragoman mirror list')
  expect(listed.stdout).toContain(`team: ${registry.url} (mcp-registry, every 1800 s)`)
  expect(listed.stdout).toContain('official: https://registry.modelcontextprotocol.io')
  expect((await dragoman('dragoman mirror add official')).stderr).toContain('conflict')
  const found = await dragoman('dragoman --json resolve com.example/weather')
  expect(JSON.parse(found.stdout)).toMatchObject({ version: '1.0.0' })
  expect((await dragoman('dragoman mirror remove team')).stdout).toContain('1 agent removed, 0 left')
  expect((await dragoman('dragoman resolve com.example/weather')).code).toBe(4)
  expect((await dragoman('dragoman mirror run team')).code).toBe(4)
  expect((await dragoman('dragoman mirror add official --name other --every 5')).stderr).toContain(
    'Give a number from 60 to',
  )
})

test('a mirror of the configuration is added once, and another source under its name is refused', async () => {
  await using registry = await startRegistryReplay([])
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  const { mirrors } = home.gateway
  const { signal } = new AbortController()
  const ensure = (source: string) => mirrors.ensure(MirrorInput.parse({ name: 'team', source }), signal)
  await ensure(registry.url)
  await ensure(registry.url)
  expect((await mirrors.list()).map(({ name, url }) => [name, url])).toEqual([['team', registry.url]])
  await expect(ensure('https://registry.example.com')).rejects.toMatchObject({
    code: 'conflict',
    message: `There is a mirror team of ${registry.url}, so that of https://registry.example.com is not added.`,
  })
})

test('docs/mirror.md has every kind of source', () => {
  for (const kind of MirrorKind.options) expect(guide).toContain(`| \`${kind}\` |`)
})

/** The command line over a data folder with the mirror `other`, whose source answers so. */
async function mirrored(answer: (response: ServerResponse) => void) {
  const stack = new AsyncDisposableStack()
  const registry = stack.use(
    await startRegistryReplay([], (_, response) => {
      answer(response)
      return true
    }),
  )
  const folder = stack.use(await temporaryFolder())
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: registry.url }
  const dragoman = (...args: string[]) => run(args, environment)
  await dragoman('mirror', 'add', `${registry.url}/v0.1`, '--name', 'other')
  return { dragoman, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a run that fails prints why and exits with 1, and its mirror says so', async () => {
  await using mirror = await mirrored((response) => void response.writeHead(403).end())
  const { code, stderr } = await mirror.dragoman('mirror', 'run', 'other')
  expect(code).toBe(1)
  expect(stderr).toContain('answers 403')
  expect((await mirror.dragoman('mirror', 'list')).stdout).toContain('failing')
})

test('a run that meets a limit says what the operator can do', async () => {
  await using mirror = await mirrored((response) => {
    response.writeHead(200)
    const write = () => response.writable && response.write('x'.repeat(1 << 20), write)
    write()
  })
  const { code, stderr } = await mirror.dragoman('mirror', 'run', 'other')
  expect(code).toBe(1)
  expect(stderr).toContain('larger than')
  expect(stderr).toContain('dragoman mirror remove other, then add it again with --filter')
  expect(stderr).not.toContain('goes on')
})
