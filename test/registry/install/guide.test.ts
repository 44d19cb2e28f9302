import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostIds } from '../../../schemas/install.ts'
import { hosts } from '../../../src/registry/install/hosts.ts'
import { run, temporaryFolder } from '../../support/command.ts'
import { blocks, guideOf, shell } from '../../support/documents.ts'
import { startGateway } from '../../support/gateway.ts'
import { packaged, refusalOf } from '../../support/installed.ts'

const guide = guideOf('install.md')
const local = 'http://127.0.0.1:8080'

test('docs/install.md: the request gets the answer that it shows, shortened', async () => {
  await using home = await startGateway()
  const [request, answer] = blocks(guide)
  const text = await shell((request?.code ?? '').replaceAll(local, home.url).replaceAll('curl ', 'curl -sS '))
  const shown = JSON.parse((answer?.code ?? '').replaceAll(local, home.url))
  expect(JSON.parse(text)).toMatchObject(shown)
})

test('docs/install.md: the commands do what it says, and print what it shows', async () => {
  await using home = await startGateway()
  await using folder = await temporaryFolder()
  const settings = { HOME: folder.path, DRAGOMAN_URL: home.url }
  const commands = blocks(guide).filter(({ info }) => info === 'sh cli')
  expect(commands).toHaveLength(3)
  const outputs: string[] = []
  for (const { code } of commands) {
    const ended = await run(code.trim().split(' ').slice(1), settings)
    expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
    outputs.push(ended.stdout)
  }
  const shown = blocks(guide).find(({ info }) => info === 'diff')
  expect(outputs[0]?.replaceAll(folder.path, '~').replaceAll(home.url, local)).toBe(shown?.code)
  expect(
    JSON.parse(readFileSync(join(folder.path, '.claude.json'), 'utf8')).mcpServers.dragoman,
  ).toBeDefined()
})

test('docs/install.md names each host with its files, and variables that are refused', () => {
  for (const host of hostIds) expect(guide).toContain(`\`${host}\``)
  for (const { files } of hosts) {
    for (const { path } of files)
      expect(guide).toContain(
        path
          .slice(path.lastIndexOf('/') + 1)
          .split('\\')
          .at(-1),
      )
  }
  const [line = ''] = guide.match(/^- an environment variable .*$/m) ?? []
  const names = [...line.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect(refusalOf(packaged({ environment_variables: [{ name }] }))).toBeDefined()
})
