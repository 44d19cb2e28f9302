import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'

const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())

const reader = 'svc.utility.reader'
test.each<[string, string[], number, RegExp[]]>([
  [
    'a file that is not there',
    ['publish', 'agnet.json'],
    2,
    [/There is no file agnet\.json\./, /looked for in \//],
  ],
  [
    'an address for a file',
    ['publish', 'http://127.0.0.1:9/mcp'],
    2,
    [/There is no file http/, /init --endpoint http:\/\/127\.0\.0\.1:9\/mcp/],
  ],
  [
    'an address to write to',
    ['init', 'http://127.0.0.1:9/mcp'],
    2,
    [/is an address, not a file/, /init --endpoint http/],
  ],
  ['a folder for a file', ['publish', '.'], 2, [/^\. cannot be read: it is a folder\./]],
  ['a list that is not there', ['import', 'list.jsonl'], 2, [/There is no file list\.jsonl\./]],
  [
    'params in a file that is not there',
    ['call', reader, 'extract_content', '@p.json'],
    2,
    [/no file p\.json/],
  ],
  [
    'params without quotes',
    ['call', reader, 'extract_content', '{url: 1}'],
    2,
    [/PARAMS is not JSON/, /in single quotes/],
  ],
  [
    'params that are no object',
    ['call', reader, 'extract_content', '7'],
    2,
    [/not a JSON object/, /in single quotes/],
  ],
  [
    'a field twice',
    ['call', 'svc.registry', 'search', 'tags=a', 'tags=b'],
    2,
    [/twice/, /tags:='\["a", "b"\]'/],
  ],
  ['a field of no JSON', ['call', 'svc.registry', 'search', 'limit:=x'], 2, [/value of limit is not JSON/]],
  [
    'a text among fields',
    ['call', 'svc.registry', 'search', 'query=x', 'more'],
    2,
    [/^more is not a field/, /limit:=5/],
  ],
  ['a number as a text', ['call', 'svc.registry', 'search', 'query=x', 'limit=5'], 2, [/\/limit: .*number/i]],
  [
    'params without a required field',
    ['call', reader, 'extract_content', '{}'],
    2,
    [/\/url: This field is required/, /dragoman resolve svc\.utility\.reader/],
  ],
  ['an unknown action', ['call', reader, 'extract', '{}'], 4, [/Did you mean extract_content\?/]],
  [
    'a misspelled agent',
    ['call', 'svc.utility.readr', 'extract_content', '{}'],
    4,
    [/Did you mean .*svc\.utility\.reader/],
  ],
  [
    'an action that is left out',
    ['call', reader],
    2,
    [/missing required argument 'action'/, /dragoman call --help shows its arguments/],
  ],
  ['a port as an option', ['serve', '--port', '9000'], 2, [/'--port'/, /PORT=9000 \S+.* serve/]],
  [
    'a word to leave out',
    ['search', 'weather', '-google'],
    2,
    [/'-google'/, /stands in quotes: .* search "weather -google"/],
  ],
  ['an unknown command', ['instal'], 2, [/Did you mean install\?/, /--help lists the commands/]],
])('%s is answered with what to do', async (_, args, code, texts) => {
  const ended = await run(args, { DRAGOMAN_DATA: folder.path })
  expect(ended.code).toBe(code)
  for (const text of texts) expect(ended.stderr).toMatch(text)
})

test('a gateway that does not answer, or is none, is named with the ways to another', async () => {
  await using other = await serve((_, response) => response.writeHead(501).end('no'))
  const { port } = other
  const none = await run(['list'], { DRAGOMAN_URL: `http://127.0.0.1:${port}` })
  const silent = await run(['list'], { DRAGOMAN_URL: `http://127.0.0.1:${await freePort()}` })
  expect(none.stderr).toContain(`${port} answers 501, and is not a Dragoman gateway.`)
  expect(silent.stderr).toContain('does not answer.')
  for (const { code, stderr } of [none, silent])
    expect([code, stderr]).toEqual([1, expect.stringContaining('the gateway of DRAGOMAN_URL')])
  const wrong = await run(['list'], { DRAGOMAN_URL: '127.0.0.1:8080' })
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('DRAGOMAN_URL: Give an http or https URL'),
  ])
  const busy = await run(['serve'], { DRAGOMAN_DATA: join(folder.path, 'busy'), PORT: String(port) })
  expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('another process listens there')])
  expect(busy.stderr).toContain('Set PORT or HOST.')
  const far = await run(['serve'], { DRAGOMAN_DATA: join(folder.path, 'far'), HOST: '192.0.2.1' })
  expect([far.code, far.stderr]).toEqual([1, expect.stringContaining('does not have the address')])
  const text = await run(['serve'], { DRAGOMAN_DATA: join(folder.path, 'text'), PORT: 'x' })
  expect([text.code, text.stderr]).toEqual([2, expect.stringContaining('PORT: Give a number.')])
})
