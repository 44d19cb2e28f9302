import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger } from '../../src/telemetry/log.ts'

test('of a fault its words are logged, and nothing that it carries', () => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const inner = Object.assign(new Error('inside'), { headers: { authorization: 'Bearer hush' } })
  const fault = Object.assign(new Error('outside', { cause: inner }), { code: 'E_ODD', token: 'hush' })
  createLogger('info', stream).error({ err: fault }, 'transport')
  expect(lines.join('')).not.toContain('hush')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 50,
    err: { message: 'outside', code: 'E_ODD', cause: { message: 'inside' } },
    msg: 'transport',
  })
})

test('a text of others is logged without characters that command a terminal, and unchanged as data', () => {
  const lines: string[] = []
  const hostile = 'a\u009b2Jb\u202ec\u200bd\u{e0041}\u001b[8me'
  createLogger('info', { write: (line: string) => void lines.push(line) }).error(
    { err: new Error(hostile) },
    'upstream',
  )
  const [line = ''] = lines
  expect(line).toMatch(/\n$/)
  expect(line.trimEnd()).not.toMatch(/[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u)
  expect(JSON.parse(line).err.message).toBe(hostile)
})
