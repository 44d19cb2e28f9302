import { expect, test } from 'vitest'
import { commandOf } from '../../schemas/commands.ts'
import { examples } from '../../src/cli/examples.ts'
import { asTyped, inCommands, invocationOf } from '../../src/cli/invocation.ts'
import { command, temporaryFolder } from '../support/command.ts'
import { run } from '../support/processes.ts'

test.each([
  ['an installed command', '/usr/local/bin/dragoman', '/home/ada', 'dragoman'],
  [
    'a global package on Windows',
    '/npm/node_modules/@dragoman-registry/dragoman/bin/dragoman.js',
    '/',
    'dragoman',
  ],
  ['a package of a project', '/home/ada/app/node_modules/.bin/dragoman', '/home/ada/app', 'npx dragoman'],
  [
    'npx',
    '/home/ada/.npm/_npx/1a2b/node_modules/.bin/dragoman',
    '/home/ada',
    'npx @dragoman-registry/dragoman',
  ],
  ['a clone, in its folder', '/home/ada/clone/bin/dragoman.js', '/home/ada/clone', 'node bin/dragoman.js'],
  ['a clone, elsewhere', '/opt/clone/bin/dragoman.js', '/home/ada', 'node /opt/clone/bin/dragoman.js'],
  ['a clone, anywhere', '/opt/clone/bin/dragoman.js', undefined, 'node /opt/clone/bin/dragoman.js'],
  ['a path with spaces', '/opt/my clone/bin/dragoman.js', '/', 'node "opt/my clone/bin/dragoman.js"'],
])('%s is typed as it was started', (_, script, folder, typed) => {
  expect(invocationOf(script, folder)).toBe(typed)
})

test('only commands are written as they are typed', () => {
  const text =
    'Use `dragoman token create`, @scope/dragoman serve, dragoman http://a.example and dragoman listed.'
  expect(asTyped(text, 'npx dragoman')).toBe(text.replace('`dragoman', '`npx dragoman'))
})

test('hints name commands in place of the actions that programs call', () => {
  expect(inCommands('Its current version is 2. list_versions lists all versions.')).toBe(
    'Its current version is 2. dragoman versions lists all versions.',
  )
  const whole = 'dragoman call svc.registry set_credential PARAMS'
  expect(inCommands('Store it with set_credential.')).toBe('Store it with dragoman credentials set.')
  const list = 'It has: search_agents, set_credential, get_usage.'
  const json = 'Call {"action": "go_live"}.'
  for (const text of [whole, list, json]) expect(inCommands(text)).toBe(text)
  for (const line of Object.values(commandOf)) {
    expect(Object.keys(examples).filter((path) => `${line} `.startsWith(`${path} `))).not.toEqual([])
  }
})

test('hints, errors and help of a clone name commands that work there', async () => {
  await using folder = await temporaryFolder()
  const dragoman = async (...args: string[]) => {
    const { stdout, stderr } = await run(process.execPath, [command, ...args], { DRAGOMAN_DATA: folder.path })
      .ended
    return stdout + stderr
  }
  const typed = invocationOf(command, process.cwd())
  expect(typed).toBe('node bin/dragoman.js')
  expect(await dragoman('list', '--mine')).toContain(
    `To publish an agent: ${typed} init, then ${typed} publish`,
  )
  expect(await dragoman('lst')).toContain(`${typed} --help lists the commands.`)
  expect(await dragoman('mirror', 'list')).toContain(`To add one: ${typed} mirror add official`)
  const refused = JSON.parse(await dragoman('call', 'svc.utility.wiki', 'search_page', '{}', '--json'))
  expect(refused.hint).toBe(`To see what its actions take: ${typed} resolve svc.utility.wiki`)
  const help = await dragoman('install', '--help')
  expect(help).toContain(`Usage: ${typed} install`)
  expect(help).toContain(`  ${typed} install --host`)
  expect(help).not.toMatch(/(?<!bin\/)\bdragoman install/)
})
