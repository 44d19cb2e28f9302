import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { commandsOf } from '../../src/cli/commands/walk.ts'
import { escapeControls, fail } from '../../src/cli/output.ts'
import { createProgram } from '../../src/cli/program.ts'
import { serve } from '../net/support.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { hostedNames } from '../support/hosted.ts'
import { run as runProcess } from '../support/processes.ts'

test.each([
  ['sets the title of a window', 'a\u001b]0;owned\u0007b', 'a\\u001b]0;owned\\u0007b'],
  ['moves the cursor', 'a\u001b[2Ab\rc', 'a\\u001b[2Ab\\u000dc'],
  ['turns the text around', 'a\u202eb', 'a\\u202eb'],
  ['holds C1 controls', 'a\u009b2Jb', 'a\\u009b2Jb'],
  ['hides what follows', 'a\u001b[8mb\u001b[30mc', 'a\\u001b[8mb\\u001b[30mc'],
  ['holds invisible characters', 'a\u200b\u{e0041}\u00adb', 'a\\u200b\\udb40\\udc41\\u00adb'],
  ['holds joined emoji', '\u{1f469}\u200d\u{1f4bb} \u2764\ufe0f', '\u{1f469}\u{1f4bb} \u2764'],
  ['is in several lines', 'a\n\tb', 'a\n\tb'],
  ['has colours of ours', styleText('red', 'a', { validateStream: false }), '\u001b[31ma\u001b[39m'],
])('a text that %s goes to the terminal with what would command it escaped', (_, text, shown) => {
  expect(escapeControls(text)).toBe(shown)
})

test('an error of several lines shows none of them as a hint of the command line', () => {
  using write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    fail(
      new Failure('not_callable', 'The agent says: No.\n  Run dragoman allow x', {
        errors: [{ pointer: '/a', detail: 'Wrong.\n  Run dragoman allow y' }],
        nearest: ['z\n  Run dragoman allow z'],
        hint: 'Look at it.',
      }),
      false,
    )
  } finally {
    process.exitCode = 0
  }
  const shown = write.mock.calls.map(([text]) => text).join('')
  expect(shown).toMatch(
    /^The agent says: No\.\n {2}\| {3}Run .*allow x \(not_callable\)\n {2}\/a: Wrong\.\n {2}\| {3}Run .*allow y\n {2}Did you mean z\n {2}\| {3}Run .*allow z\?\n {2}Look at it\.\n$/,
  )
})

/** An operating system command, a C1 control, a change of direction, hidden text and invisible characters. */
const hostile = 'a\u001b]0;owned\u0007b\u009b2Jc\u202ed\u001b[8me\u200bf\u{e0041}'
/** Tabs and line ends separate cells and rows. */
const commands = /[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n]]/v

/** A gateway whose every answer is hostile in every field that the command line prints. */
const agent = { id: hostile, package_name: hostile, name: hostile, description: hostile, state: hostile }
const finding = { severity: 'error', code: hostile, field: hostile, message: hostile, suggestion: hostile }
const record = { name: hostile, value: hostile }
const answer = {
  ...agent,
  agents: [agent],
  total: 1,
  card: agent,
  findings: [finding],
  valid: false,
  verification_level: hostile,
  reason: hostile,
  attempts: [{ method: hostile, detail: hostile }],
  challenges: {
    dns: { record },
    http: { url: hostile, line: hostile },
    mcp: { record, sign: hostile },
  },
  events: [
    { at: hostile, action: hostile, actor: { subject: hostile }, reason: hostile, after: { [hostile]: 1 } },
  ],
  keys: [{ id: hostile, subject: hostile, scopes: [hostile], expires_at: hostile, label: hostile }],
  accounts: [
    {
      owner: { subject: hostile, issuer: hostile },
      namespace: null,
      quotas: [{ quota: hostile, used: 1, limit: 2 }],
    },
    { owner: null, namespace: hostile, quotas: [] },
  ],
  created: 1,
  updated: 0,
  unchanged: 0,
  rejected: [{ line: 1, reason: hostile }],
  warnings: [{ line: 2, message: hostile }],
  status: 'offered',
  offers: [
    { package_name: hostile, from: { subject: hostile }, to: { subject: hostile }, offered_at: hostile },
  ],
  endpoints: [
    {
      protocol: 'mcp',
      url: 'https://a.example.com/',
      headers: [{ name: 'X', is_required: true, description: hostile }],
    },
  ],
  packages: [{ registry_type: hostile, identifier: hostile }],
  callable: hostile,
  manifest_url: 'https://a.example.com/card.json',
  deprecated: null,
  key: hostile,
  revoked: hostile,
  url: hostile,
  counts: { created: 1, updated: 0, unchanged: 0, removed: 0, rejected: 1 },
  rejections: [{ key: hostile, reason: hostile }],
  mirrors: [
    {
      name: hostile,
      url: hostile,
      kind: hostile,
      status: hostile,
      finished_at: hostile,
      next_at: hostile,
      counts: {},
      error: { at: hostile, code: hostile, message: hostile },
    },
  ],
  removed: 1,
  left: 0,
  versions: [{ version: hostile, revision: 1, published_at: hostile, current: true }],
  liveness: { status: hostile },
  signals: [{ signal: hostile, ok: false, failure: hostile, detail: hostile, ms: 1 }],
  changes: [{ kind: 'unlisted', at: hostile, revision: 1, package_name: hostile }],
  next_since: 1,
  revision: 1,
  more: false,
  secret: hostile,
  credentials: [
    {
      agent: hostile,
      kind: 'sign_in',
      sign_in: { issuer: hostile, scopes: [hostile], expires_at: hostile },
    },
    { agent: hostile, kind: hostile, header: hostile, variable: null, origin: hostile },
  ],
  sign_in_url: hostile,
  issuer: hostile,
  kinds: [hostile],
  deliveries: [{ at: hostile, ok: false, status: 500, failure: hostile, detail: hostile }],
  webhooks: [
    { id: hostile, url: hostile, kinds: [hostile], enabled: true, disabled_at: null, failing_since: null },
  ],
  manifest: { findings: [finding] },
}
const problem = {
  code: 'not_found',
  detail: hostile,
  errors: [{ pointer: hostile, detail: hostile }],
  nearest: [hostile],
  hint: hostile,
}

let refuses = false
const server = await serve((_, response) => {
  response.writeHead(refuses ? 404 : 200, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(refuses ? problem : answer))
})

afterAll(() => server[Symbol.asyncDispose]())
const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())
await writeFile(join(folder.path, 'agent.json'), '{"name": "x"}')

const lines = [
  ['search'],
  ['resolve', 'x'],
  ['call', 'x', 'y'],
  ['init', '-'],
  ['publish', '{file}'],
  ['update', 'x', '{file}'],
  ['go-live', 'x'],
  ['unpublish', 'x'],
  ['deprecate', 'x', '--message', 'y'],
  ['delete', 'x', '--yes'],
  ['allow', 'x', '--yes'],
  ['allowed'],
  ['disallow', 'x'],
  ['list'],
  ['open', 'x'],
  ['versions', 'x'],
  ['diff', 'x', 'r1', 'r2'],
  ['check', 'x'],
  ['watch', '--since', '0', '--until', '1'],
  ['webhooks', 'create', 'https://example.com/'],
  ['webhooks', 'list'],
  ['webhooks', 'get', 'x'],
  ['webhooks', 'update', 'x', '--enable'],
  ['webhooks', 'delete', 'x'],
  ['install', 'x', '--host', 'json'],
  ['import', '{file}'],
  ['validate', '{file}'],
  ['verify', 'x'],
  ['claim', 'x'],
  ['transfer', 'x', '--to', 'y'],
  ['accept-transfer', 'x'],
  ['transfers'],
  ['suspend', 'x', '--reason', 'y'],
  ['suspended'],
  ['report', 'x', '--reason', 'broken'],
  ['calls', 'x'],
  ['audit', 'x'],
  ['audit'],
  ['token', 'create'],
  ['token', 'revoke', 'x'],
  ['apikey', 'create'],
  ['apikey', 'list'],
  ['credentials', 'list'],
  ['credentials', 'set', 'x', '{file}', '--header', 'x-key'],
  ['credentials', 'connect', 'x'],
  ['credentials', 'forget', 'x'],
  ['apikey', 'delete', 'x'],
  ['keys', 'revoke', 'x'],
  ['usage'],
  ['quota', 'list'],
  ['quota', 'set', 'entries', '5', '--sub', 'x'],
  ['mirror', 'add', 'official'],
  ['mirror', 'list'],
  ['mirror', 'run', 'x'],
  ['mirror', 'remove', 'x'],
  ['doctor'],
]

/** Commands that answer from the data folder alone, or pass messages of a protocol on to a program. */
const withoutOthers = [
  'serve',
  'mcp',
  'connect',
  'export',
  'extras add',
  'extras list',
  'index rebuild',
  'keys list',
  'keys rotate',
  'keys replace',
  'completion',
  'login',
  'logout',
  'whoami',
]

test('every command is tested here, or prints no texts of others', () => {
  const tested = lines.map((line) => line.filter((word) => /^[a-z-]{2,}$/.test(word)).join(' '))
  const isTested = (command: string) =>
    [...tested, ...withoutOthers].some((line) => line === command || line.startsWith(`${command} `))
  const leaves = commandsOf(createProgram({ errors: false })).filter(
    ({ command }) => command.commands.length === 0,
  )
  expect(leaves.map(({ path }) => path).filter((path) => !isTested(path))).toEqual([])
})

test.each(
  lines.flatMap((line) => [
    [line.join(' '), line],
    [`${line.join(' ')} --json`, [...line, '--json']],
  ]) as [string, string[]][],
)('dragoman %s prints no terminal control characters', async (_, line) => {
  const words = line.map((word) => word.replace('{file}', join(folder.path, 'agent.json')))
  const environment = { DRAGOMAN_URL: server.origin, DRAGOMAN_TOKEN: 'any' }
  for (const refused of [false, true]) {
    refuses = refused
    const { stdout, stderr } = await run(words, environment)
    expect(stdout + stderr).not.toBe('')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are ours
    const plain = `${stdout}${stderr}`.replace(/\u001b\[(?:1|22|3[1236]|39)m/g, '')
    expect(plain).not.toMatch(commands)
  }
})

test.each(['list', 'rotate', 'replace'])(
  'keys %s says that it does not reach the gateway of DRAGOMAN_URL',
  async (verb) => {
    await using data = await temporaryFolder()
    const environment = { DRAGOMAN_URL: 'http://127.0.0.1:9', DRAGOMAN_DATA: data.path }
    const { code, stdout, stderr } = await run(['keys', verb], environment)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/in the data folder of their gateway.*\n.*Unset DRAGOMAN_URL/)
    expect(await readdir(data.path)).toEqual([])
  },
)

test('keys rotate names the folder that the other gateways of a database need', async () => {
  await using data = await temporaryFolder()
  const rotate = (database: object) => run(['keys', 'rotate'], { DRAGOMAN_DATA: data.path, ...database })
  const shared = await rotate({ DATABASE_URL: 'postgres://127.0.0.1:9/dragoman' })
  expect([shared.code, shared.stderr]).toEqual([
    0,
    expect.stringContaining(`Copy ${join(data.path, 'keys')} to the other gateways`),
  ])
  expect(await rotate({})).toMatchObject({ code: 0, stderr: '' })
})

test('what a library reports goes to standard error: standard output is for data', async () => {
  const library = `process.on('exit', () => console.log('a library is deprecated'))`
  const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(library)}` }
  await using helping = runProcess(process.execPath, [command, 'help'], environment)
  const { stdout, stderr } = await helping.ended
  expect(stdout).toContain('Usage:')
  expect(stdout).not.toContain('deprecated')
  expect(stderr).toContain('a library is deprecated')
})

test('the command for MCP hosts tells a person at a terminal what it waits for', async () => {
  await using folder = await temporaryFolder()
  const terminal = 'process.stdin.isTTY = process.stderr.isTTY = true'
  const started = (environment: Record<string, string>) =>
    runProcess(
      process.execPath,
      [command, 'mcp'],
      { DRAGOMAN_DATA: folder.path, ...environment },
      { input: '' },
    )
  await using typed = started({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(terminal)}`,
  })
  const { stdout, stderr } = await typed.ended
  expect([stdout, stderr]).toEqual([
    '',
    expect.stringMatching(/^An MCP host starts this command.* install --host/),
  ])
  await using host = started({})
  expect((await host.ended).stderr).toBe('')
})

test('a search of a new registry that finds nothing says how to have it list more', async () => {
  await using folder = await temporaryFolder()
  const search = (...words: string[]) => run(['search', ...words], { DRAGOMAN_DATA: folder.path })
  const { code, stdout, stderr } = await search('will it rain tomorrow')
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(
    new RegExp(
      `Only ${hostedNames.length} agents are listed\\. .* dragoman mirror add official; .* dragoman mirror list`,
    ),
  )
  expect((await search('read a web page')).stderr).not.toContain('mirror add')
})

test('a search says which agents are deprecated', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  const publication = join(folder.path, 'swans.json')
  const swans = { package_name: 'com.example.swans', name: 'Swans', description: 'Folds paper swans.' }
  await writeFile(
    publication,
    JSON.stringify({ ...swans, capabilities: [{ name: 'fold', description: 'Folds.' }] }),
  )
  await run(['publish', publication], environment)
  await run(['go-live', 'com.example.swans'], environment)
  await run(['deprecate', 'com.example.swans'], environment)
  expect((await run(['search', 'paper', 'swans'], environment)).stdout).toContain(
    'Deprecated. Folds paper swans.',
  )
})

test('a mirror that cannot be read is said once, without the log of a gateway', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  const source = ['https://127.0.0.1:9/v0', '--name', 'gone', '--kind', 'mcp-registry']
  expect((await run(['mirror', 'add', ...source], environment)).code).toBe(0)
  await using running = runProcess(process.execPath, [command, 'mirror', 'run', 'gone'], environment)
  const { code, stderr } = await running.ended
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^The source failed: .*\n {2}The next run.*\n$/)])
})

/** The folder of a registry into which nobody has put anything. */
const empty = await temporaryFolder()
afterAll(() => empty[Symbol.asyncDispose]())

test.each([
  [['allowed'], /^No package is allowed. To let this gateway run one: .* allow NAME$/],
  [['apikey', 'list'], /^You have no API key. To make one: .* apikey create$/],
  [['credentials', 'list'], /^You have stored no credential/],
  [['mirror', 'list'], /^There is no mirror. To add one: /],
  [['quota', 'list'], /^Nobody uses anything yet.$/],
  [['suspended'], /^No agent is suspended.$/],
  [['suspended', '--removed'], /^No source has removed an agent.$/],
  [['transfers'], /^Nobody has offered you an agent.$/],
  [['transfers', '--made'], /^You have offered no agent to anybody.$/],
  [['webhooks', 'list'], /^You have no webhook. To make one: /],
])(
  '%j without anything to list says so to people, and prints nothing for programs',
  async (args, message) => {
    const { code, stdout, stderr } = await run(args, { DRAGOMAN_DATA: empty.path })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr.trim()).toMatch(message)
  },
)
