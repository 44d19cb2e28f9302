import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Step } from '../../schemas/playground.ts'
import { quote, toAscii } from '../../src/common/ascii.ts'
import { temporaryFolder } from '../../test/support/command.ts'
import { toCurl } from './export/curl.ts'
import { toFrames } from './export/mcp.ts'
import { planOf } from './export/plan.ts'
import { toTypeScript } from './export/typescript.ts'

const nasty = fc.oneof(
  fc.constantFrom(
    "'",
    "'; touch pwned; '",
    '$(touch pwned)',
    '`touch pwned`',
    `\${HOME}`,
    '\\',
    "\\'",
    '\n',
    '\r\n#',
    '!!',
    '-n',
    '*',
    '</script>',
    '*/',
    '\u2028\u2029',
    '\u202e',
    '\ud800',
    '\x00\x07\x1b[2J',
    '\x7f',
    'ä😀',
  ),
  fc.string({ unit: 'binary' }),
)
const text = fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join(''))
// A shell word cannot contain NUL, and half a surrogate pair is not UTF-8.
const word = text.map((parameter) => parameter.replaceAll('\0', '').toWellFormed())

test('a quoted text is one word of a shell, whatever it contains', async () => {
  await using folder = await temporaryFolder()
  const texts = fc.sample(word, { numRuns: 2000, seed: 1 })
  const script = `printf '%s\\0' ${texts.map(quote).join(' ')}`
  const output = execFileSync('bash', { input: script, cwd: folder.path, encoding: 'utf8' }).split('\0')
  expect(output.slice(0, -1)).toEqual(texts)
})

test('a value in ASCII is the same value, on one line without invisible characters', async () => {
  await fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), text, (value, key) => {
      const written = toAscii([value, { [`k${key}`]: key }])
      expect(written).toMatch(/^[\x20-\x7e]*$/)
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify([value, { [`k${key}`]: key }])))
    }),
  )
})

function planOver(calls: readonly { action: string; params: Record<string, unknown>; by?: Step['by'] }[]) {
  const steps = calls.map(
    ({ action, params, by = 'token' }, index): Step => ({
      number: index + 1,
      kind: 'execute',
      by,
      started_at: '2026-11-01T00:00:00.000Z',
      duration_ms: 1,
      envelope: { to: 'com.example', action, params },
    }),
  )
  return planOf('id', steps, { agents: () => [], base_url: () => 'http://127.0.0.1:1' })
}

describe('an export', () => {
  const calls = fc.sample(fc.record({ action: text, params: fc.dictionary(text, text) }), {
    numRuns: 200,
    seed: 2,
  })
  const plan = planOver(calls.filter(({ params }) => !Object.hasOwn(params, '__proto__')))
  const bodies = plan.calls.map(({ envelope }) => JSON.parse(JSON.stringify(envelope)))

  test('passes the exact bodies through a shell and runs nothing else', async () => {
    await using folder = await temporaryFolder()
    const curl = `curl() { printf '%s\\n' "\${@: -1}"; }\n`
    const environment = { PATH: process.env.PATH ?? '', DRAGOMAN_TOKEN: 'x' }
    const output = execFileSync('bash', {
      input: curl + toCurl(plan),
      cwd: folder.path,
      env: environment,
      encoding: 'utf8',
    })
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(bodies)
    expect(execFileSync('ls', { cwd: folder.path, encoding: 'utf8' })).toBe('')
  })

  test('passes the exact bodies through Node and runs nothing else', async () => {
    await using folder = await temporaryFolder()
    const fetch = 'globalThis.fetch = async (_, { body }) => new Response(body)\n'
    const path = join(folder.path, 'exported.ts')
    await writeFile(path, toTypeScript(plan).replace('\n\n', `\n${fetch}\n`))
    const output = execFileSync(process.execPath, [path], {
      env: { DRAGOMAN_TOKEN: 'x' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(bodies)
  })

  test('is one message per line for MCP', () => {
    const lines = toFrames(plan).trim().split('\n')
    const messages = lines.map((line) => JSON.parse(line))
    expect(messages).toHaveLength(plan.calls.length + 2)
    expect(messages.slice(2).map(({ params }) => params.arguments.params)).toEqual(
      bodies.map(({ params }) => params),
    )
  })

  test('is visible ASCII, and needs a token or a session only if a call does', () => {
    for (const write of [toCurl, toTypeScript, toFrames]) expect(write(plan)).toMatch(/^[\x20-\x7e\n]*$/)
    const anonymous = planOver([{ action: 'a', params: {}, by: 'anonymous' }])
    for (const write of [toCurl, toTypeScript]) {
      expect(write(plan)).not.toContain('/api/playground/session')
      expect(write(anonymous)).not.toContain('TOKEN')
      expect(write(planOver([]))).not.toMatch(/TOKEN|playground\/session/)
    }
  })
})
