import { afterAll, expect, test } from 'vitest'
import { defaultLimits } from '../../agents/playground/sessions.ts'
import { routes } from '../../src/transports/http/routes.ts'
import { temporaryFolder } from '../support/command.ts'
import { blocksOf, guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { run } from '../support/processes.ts'
import { html, replay } from '../support/replay.ts'

const guide = guideOf('playground.md')

const outside = await replay({
  'GET /': html('<html lang="en"><title>On rivers</title><body><p>Water flows downhill.</p></body></html>'),
})
const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: outside.url })
afterAll(() => outside[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

const here = (text: string) =>
  text.replaceAll('http://127.0.0.1:8080', home.url).replaceAll('https://example.com/', `${outside.url}/`)

test('docs/playground.md: the requests, one after the other, are answered as it says', async () => {
  await using folder = await temporaryFolder()
  const scripts = blocksOf(guide, 'sh').map((code) => here(code))
  expect(scripts).toHaveLength(4)
  const quiet = scripts.join("printf '\\0'\n").replaceAll('curl ', 'curl -sS ')
  const script = `${quiet}echo "session=$SESSION" >&2`
  const { code, stdout, stderr } = await run('bash', ['-euc', script], {}, { cwd: folder.path }).ended
  expect(code, stderr).toBe(0)
  const words = stdout.split('\0')
  const shown = blocksOf(guide, 'json').map((code) => JSON.parse(here(code)))
  expect(shown).toHaveLength(3)
  for (const [index, answer] of shown.entries()) {
    expect(JSON.parse(words[index] ?? '')).toMatchObject(answer)
  }
  const again = words[3]
    ?.trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(again).toMatchObject([shown[0], { output: { title: 'On rivers' }, step: 1 }])

  const [watch = '', text = ''] = ['sh watch', 'text'].map((language) => blocksOf(guide, language)[0] ?? '')
  await using watching = run('bash', [
    '-c',
    `SESSION=${/session=(\w+)/.exec(stderr)?.[1]}\nexec ${here(watch)}`,
  ])
  const [output] = await watching.printed(/event: progress[\s\S]*"kind":"execute",/)
  expect(`${output}\n`).toBe(text)
}, 30_000)

test('docs/playground.md has every row and every bound', () => {
  for (const { method, path } of routes.filter(({ to }) => to === 'svc.playground')) {
    expect(guide).toContain(`${method.toUpperCase()} ${path.replace('/api/playground/session/', '…/')}`)
  }
  const { session, owner, anonymous, watchers } = defaultLimits
  const megabytes = (characters: number) => `${characters / 1024 / 1024} MiB together`
  expect(guide).toContain(`| steps of a session | ${session.steps}, of ${megabytes(session.characters)} |`)
  expect(guide).toContain(`| ${owner.sessions}, of ${megabytes(owner.characters)} |`)
  const all = anonymous.sessions.toLocaleString('en-US')
  expect(guide).toContain(`| ${all}, of ${megabytes(anonymous.characters)} |`)
  expect(guide).toContain(`in one process | ${watchers} |`)
})
