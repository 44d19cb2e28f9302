import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'

const guide = guideOf('rest-client.md')
const programs = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program = '']) => program)
const run = promisify(execFile)

const home = await startGateway()
const token = await home.token('guide', { namespaces: ['com.example'] })
afterAll(() => home[Symbol.asyncDispose]())

test.each([
  [0, /^svc\.utility\.wiki .+\n\[.*'search_page'.*\]\n$/],
  [1, /^com\.example\.weather ACTIVE\n$/],
  [2, /^400 invalid_request \/limit\n$/],
])('program %i of docs/rest-client.md prints what it should', async (index, expected) => {
  const module = new URL('../../src/client/rest/index.ts', import.meta.url).href
  const program = (programs[index] ?? '').replace("'dragoman/rest'", `'${module}'`)
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', program], {
    env: { ...process.env, DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: token },
  })
  expect(stdout).toMatch(expected)
})

test('docs/rest-client.md has no other program', () => {
  expect(programs).toHaveLength(3)
})
