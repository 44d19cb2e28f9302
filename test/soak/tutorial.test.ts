import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryFolder } from '../support/command.ts'
import { blocks, guideOf, shell } from '../support/documents.ts'
import { replay } from '../support/replay.ts'
import { serve } from '../support/serve.ts'

const tutorial = guideOf('tutorial.md')

/** What each command of the tutorial prints, where the text says it. */
const printed = [
  'ready',
  'svc.utility.reader',
  'extract_content',
  'A page',
  'svc.utility.wiki',
  'acme.weather',
  'not_found',
  'ACTIVE',
]

test('every step of the tutorial works, and prints what the text says', async () => {
  await using folder = await temporaryFolder()
  await using page = await replay({
    'GET /': {
      headers: { 'Content-Type': 'text/html' },
      body: '<html><head><title>A page</title></head><body><p>A page.</p></body></html>',
    },
  })
  const data = join(folder.path, 'data')
  const settings = { DRAGOMAN_ALLOW_ORIGINS: page.url, DRAGOMAN_LIVENESS: 'off' }
  await using served = await serve(data, settings)
  const steps = blocks(tutorial)
    .filter(({ info }) => info === 'sh')
    .map(({ code }) =>
      code
        .replaceAll('http://127.0.0.1:8080', served.url)
        .replaceAll('https://example.com/', `${page.url}/`)
        .replaceAll('npm run -s dragoman --', `${process.execPath} ${command}`),
    )
  expect(steps.length).toBeGreaterThan(8)
  const environment = Object.entries({ DRAGOMAN_DATA: data, HOME: folder.path, ...settings })
  const exports = environment.map(([name, value]) => `export ${name}='${value}'`).join('\n')
  const output = await shell(`cd ${folder.path}\nset -o pipefail\n${exports}\n${steps.join('\n')}`)
  let rest = output
  for (const text of printed) {
    expect(rest).toContain(text)
    rest = rest.slice(rest.indexOf(text) + text.length)
  }
  expect(rest).toMatch(/^2$/m)
}, 120_000)
