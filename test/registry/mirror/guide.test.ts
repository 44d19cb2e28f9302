import { expect, test } from 'vitest'
import { MirrorKind } from '../../../schemas/mirror.ts'
import { run, temporaryFolder } from '../../support/command.ts'
import { blocksOf, guideOf } from '../../support/documents.ts'
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

test('docs/mirror.md has every kind of source', () => {
  for (const kind of MirrorKind.options) expect(guide).toContain(`| \`${kind}\` |`)
})

test('a run that fails prints why and exits with 1, and its mirror says so', async () => {
  await using registry = await startRegistryReplay([], (_, response) => {
    response.writeHead(403).end()
    return true
  })
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: registry.url }
  await run(['mirror', 'add', `${registry.url}/v0.1`, '--name', 'other'], environment)
  const { code, stderr } = await run(['mirror', 'run', 'other'], environment)
  expect(code).toBe(1)
  expect(stderr).toContain('answers 403')
  expect((await run(['mirror', 'list'], environment)).stdout).toContain('failing')
})

test('a run that meets a limit says what the operator can do', async () => {
  await using registry = await startRegistryReplay([], (_, response) => {
    response.writeHead(200)
    const write = () => response.writable && response.write('x'.repeat(1 << 20), write)
    write()
    return true
  })
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: registry.url }
  await run(['mirror', 'add', `${registry.url}/v0.1`, '--name', 'other'], environment)
  const { code, stderr } = await run(['mirror', 'run', 'other'], environment)
  expect(code).toBe(1)
  expect(stderr).toContain('larger than')
  expect(stderr).toContain('dragoman mirror remove other, then add it again with --filter')
  expect(stderr).not.toContain('goes on')
})
