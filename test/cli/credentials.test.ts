import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { command, run, temporaryFolder } from '../support/command.ts'
import { run as runProcess } from '../support/processes.ts'

const folder = await temporaryFolder()
const environment = { DRAGOMAN_DATA: folder.path }
const agent = 'com.example.keyed'
afterAll(() => folder[Symbol.asyncDispose]())

const file = join(folder.path, 'agent.json')
const headers = [{ name: 'X-API-Key', is_required: true }]
const endpoints = [{ protocol: 'mcp', url: 'https://keyed.example.com/mcp', headers }]
const publication = { package_name: agent, name: 'Keyed', description: 'Wants a key.', endpoints }
await writeFile(file, JSON.stringify(publication))
const { code, stderr } = await run(['publish', file, '--live'], environment)
expect(code, stderr).toBe(0)

test('a secret from a file goes into the header that its agent requires', async () => {
  const file = join(folder.path, 'key.txt')
  await writeFile(file, 'first secret\n')
  const { code, stdout, stderr } = await run(['credentials', 'set', agent, file], environment)
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('x-api-key for https://keyed'), ''])
  const { stdout: listed } = await run(['credentials', 'list'], environment)
  expect(listed).toContain(`${agent} header x-api-key`)
})

test('a secret that is typed is not shown', async () => {
  const terminal = 'for (const stream of [process.stdin, process.stderr]) stream.isTTY = true'
  await using typed = runProcess(process.execPath, [command, 'credentials', 'set', agent], {
    ...environment,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(terminal)}`,
  })
  await typed.printed(/Value of the header X-API-Key \(not shown\): /)
  typed.process.stdin?.end('second secret\r')
  const { code, stdout, stderr } = await typed.ended
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^stored: com\.example\.keyed/)])
  expect(stdout + stderr).not.toContain('second secret')
})

test('where nobody can be asked, the error says how a secret is given', async () => {
  const { code, stderr } = await run(['credentials', 'set', agent], environment)
  expect([code, stderr]).toEqual([2, expect.stringContaining('or - for standard input')])
})
