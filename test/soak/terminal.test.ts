import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command, run, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { run as runProcess } from '../support/processes.ts'

const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script')
// biome-ignore lint/suspicious/noControlCharactersInRegex: the styles of this command line begin with it
const styles = /\u001b\[[\d;]*m/g

/** Runs a command line at a terminal of a size; what it prints and what the user types there. */
async function atTerminal(
  args: readonly string[],
  environment: Record<string, string>,
  { columns = 80, rows = 40, input = '' } = {},
): Promise<string> {
  const line = `stty cols ${columns} rows ${rows} -echo; ${[process.execPath, command, ...args].join(' ')}`
  await using terminal = runProcess('/usr/bin/script', ['-qec', line, '/dev/null'], environment, { input })
  return (await terminal.ended).stdout
}

describe.skipIf(!hasTerminal)('at a terminal', () => {
  test.each([40, 60, 120])('a list is fitted to %i columns, with a head and colours', async (columns) => {
    await using home = await startGateway()
    const shown = await atTerminal(['list'], { DRAGOMAN_URL: home.url, TERM: 'xterm' }, { columns })
    const lines = shown.split(/\r?\n/).filter(Boolean)
    expect(shown).toContain('\u001b[1msvc.utility.wiki')
    expect(lines.filter((line) => line.replaceAll(styles, '').length > columns)).toEqual([])
    expect(lines[0]).toMatch(/^NAME /)
  })

  test('NO_COLOR is respected', async () => {
    await using home = await startGateway()
    const environment = { DRAGOMAN_URL: home.url, TERM: 'xterm', NO_COLOR: '1' }
    expect(await atTerminal(['list'], environment)).not.toMatch(styles)
  })

  test('a text longer than the terminal goes through the pager', async () => {
    await using home = await startGateway()
    const environment = { DRAGOMAN_URL: home.url, TERM: 'xterm', PAGER: "sed 's/^/> /'" }
    const card = ['resolve', 'svc.utility.wiki']
    expect(await atTerminal(card, environment, { rows: 10 })).toMatch(/^> \{\r?\n> {3}"agent_id"/)
    expect(await atTerminal(card, environment, { rows: 500 })).toMatch(/^\{/)
    const without = { ...environment, PAGER: 'no-such-pager' }
    expect(await atTerminal(card, without, { rows: 10 })).toContain('{\r\n  "agent_id"')
  })

  test('publish of a name that is yours offers to update the agent', async () => {
    await using home = await startGateway()
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'agent.json')
    const environment = { DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: await home.token('ada'), TERM: 'xterm' }
    const endpoint = 'https://mine.example.com/a2a'
    const described = ['--name', 'Mine', '--description', 'First.', '--endpoint', endpoint]
    await run(['init', file, '--package-name', 'com.example.mine', ...described], {})
    await run(['publish', file], environment)
    const written = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...written, description: 'Changed.' }))
    expect(await atTerminal(['publish', file], environment, { input: 'n\n' })).toContain(
      'Nothing was changed.',
    )
    const updated = await atTerminal(['publish', file], environment, { input: 'y\n' })
    expect(updated).toMatch(/Update it\? \[y\/N\][\s\S]*com\.example\.mine/)
    const { stdout } = await run(['list', '--mine'], environment)
    expect(stdout).toMatch(/\tChanged\.\n$/)
    expect(await atTerminal(['delete', 'com.example.mine'], environment, { input: 'n\n' })).toContain(
      'Nothing was deleted.',
    )
  }, 30_000)
})

test.skipIf(!hasTerminal)(
  'a person at a terminal reads how to approve a package, and a program that runs the command does not',
  async () => {
    await using home = await startGateway()
    await list(home, {
      package_name: 'com.example.package',
      capabilities: [{ name: 'act', description: 'Acts.' }],
      packages: [{ registry_type: 'npm', identifier: '@example/package', version: '1.0.0' }],
    })
    const environment = { DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: await home.token('ada') }
    const args = ['call', 'com.example.package', 'act']
    expect(await atTerminal(args, environment)).toContain(' allow com.example.package')
    const { stderr } = await run(args, environment)
    expect(stderr).toContain('Ask the operator')
    expect(stderr).not.toContain(' allow ')
  },
)

test('a pipe has no colours unless FORCE_COLOR asks for them', async () => {
  await using home = await startGateway()
  const listed = async (environment: Record<string, string>) => {
    await using listing = runProcess(process.execPath, [command, 'list'], {
      DRAGOMAN_URL: home.url,
      ...environment,
    })
    return (await listing.ended).stdout
  }
  expect(await listed({})).not.toMatch(styles)
  expect(await listed({ FORCE_COLOR: '1' })).toMatch(styles)
})

test.skipIf(!hasTerminal)(
  'init asks for what the options do not say, and takes lines that are typed ahead',
  async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'agent.json')
    const input = 'com.example.typed\nTyped\n\nhttps://typed.example.com/a2a\n\n'
    await atTerminal(['init', file, '--tag', 'typing'], { TERM: 'xterm' }, { input })
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      package_name: 'com.example.typed',
      name: 'Typed',
      endpoints: [{ protocol: 'a2a', url: 'https://typed.example.com/a2a' }],
      tags: ['typing'],
    })
  },
)

test('watch ends at Ctrl+C with exit code 0', async () => {
  await using home = await startGateway()
  await using watching = runProcess(process.execPath, [command, 'watch', '--since', '0'], {
    DRAGOMAN_URL: home.url,
  })
  await watching.printed(/listed svc\.utility\.wiki/)
  watching.process.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Ctrl+C ends') })
})

test.skipIf(!hasTerminal)('open starts the browser of the user with the address that it prints', async () => {
  await using home = await startGateway()
  await using folder = await temporaryFolder()
  const browser = join(folder.path, 'browser')
  const seen = join(folder.path, 'seen')
  await writeFile(browser, `#!/bin/sh\necho "$1" > ${seen}.part && mv ${seen}.part ${seen}\n`, {
    mode: 0o700,
  })
  const environment = { DRAGOMAN_URL: home.url, TERM: 'xterm', BROWSER: browser }
  const shown = await atTerminal(['open', 'svc.utility.wiki'], environment)
  const address = `${home.url}/agent/svc.utility.wiki`
  expect(shown.trim()).toBe(address)
  await expect.poll(() => readFile(seen, 'utf8').catch(() => '')).toBe(`${address}\n`)
  const without = await atTerminal(['open'], { ...environment, BROWSER: join(folder.path, 'none') })
  expect(without).toContain('No browser could be started')
})
