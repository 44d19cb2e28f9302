import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'

const folder = resolve(import.meta.dirname, '../../bench/eval')
const run = promisify(execFile)
const linesOf = (file: string) =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('no intent and no request is in both halves', () => {
  const intents = [...linesOf('intents/english/open.jsonl'), ...linesOf('intents/english/closed.jsonl')]
  const requests = [...linesOf('fit/calibration.jsonl'), ...linesOf('fit/report.jsonl')]
  for (const all of [intents, requests]) expect(new Set(all.map(({ text }) => text)).size).toBe(all.length)
  expect([intents.length, requests.length]).toEqual([120, 400])
})

test('intents and requests are asked of the lists that the command names', async () => {
  await using temporary = await temporaryFolder()
  const list = join(temporary.path, 'list.jsonl')
  const server = (packageName: string, name: string, description: string) =>
    JSON.stringify({ packageName, name, description, url: 'https://example.com/', runtime: 'node' })
  const lines = [
    server('weather', 'Weather', 'Weather forecasts for every place.'),
    server('mail', 'Gmail', 'Sends an e-mail.'),
  ]
  await writeFile(list, lines.join('\n'))
  const ask = async (...options: string[]) => {
    const { stdout } = await run(process.execPath, [join(folder, 'intents.ts'), list, '--json', ...options])
    return JSON.parse(stdout)
  }
  const [all] = await ask()
  expect(all).toMatchObject({ kind: 'all', intents: 61 })
  const [first, third] = all.successes
  expect(first.success).toBeGreaterThan(0)
  expect(first.success).toBeLessThan(0.3)
  expect(third.success).toBeGreaterThanOrEqual(first.success)
  expect(await ask('--fit', 'report')).toMatchObject({
    served: { requests: 100 },
    unserved: { requests: 100 },
  })
}, 60_000)
