import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { emptyReasons } from '../../agents/reader/html-to-markdown/empty-reason.ts'
import { guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { html, replay } from '../support/replay.ts'

const guide = guideOf('reader.md')
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  )

const outside = await replay({
  'GET /': html(
    '<html lang="en"><title>On rivers</title><body><article><h1>On rivers</h1><p>Water flows <a href="/hill">downhill</a>, and always did, as far as we know.</p></article></body></html>',
  ),
})
const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: outside.url })
afterAll(() => outside[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

const sections = guide.split('\n## ').filter((section) => section.includes('```sh'))

test.each(sections.map((section) => [section.split('\n', 1)[0], section] as const))(
  'docs/reader.md: the request %s gives the page',
  async (_, section) => {
    const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? []
    const here = script
      .replaceAll('http://127.0.0.1:8080', home.url)
      .replaceAll('https://example.com/', `${outside.url}/`)
      .replace('curl ', 'curl -sS ')
    const token = await home.token('me')
    const { stdout } = await promisify(execFile)('bash', ['-euc', `TOKEN=${token}\n${here}`])
    expect(stdout).toContain('Water flows')
    expect(stdout).toContain('"content_trust":"untrusted"')
  },
)

test('docs/reader.md shows a transport in every section of its kind, and its answer', async () => {
  expect(sections).toHaveLength(5)
  const [shown = ''] = blocks('json')
  const token = await home.token('me')
  const { json } = await home.request('POST', '/a2a/utility/reader', {
    token,
    body: { input: { url: `${outside.url}/` } },
  })
  expect(json.output).toMatchObject(JSON.parse(shown.replaceAll('https://example.com/', `${outside.url}/`)))
})

test('docs/reader.md has every reason for an empty page and every option', async () => {
  for (const reason of emptyReasons) expect(guide).toContain(`| \`${reason}\` |`)
  const { json } = await home.request('GET', '/openapi.json')
  const body = json.paths['/a2a/utility/reader'].post.requestBody.content['application/json'].schema
  const whole = (schema: { $ref?: string }) =>
    schema.$ref ? json.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema
  const options = Object.keys(whole(whole(body).properties.input).properties)
  expect(options).toHaveLength(8)
  for (const option of options) expect(guide).toContain(`| \`${option}\` |`)
})
