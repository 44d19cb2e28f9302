import { describe, expect, test } from 'vitest'
import { createTail } from '../../src/runner/output.ts'

describe('the end of standard error', () => {
  const secret = 'sk-0123456789-abcdefghij'
  const long = 'x'.repeat(16 * 1024 - 10)

  test('has no part of a secret in a line that is too long to be kept', () => {
    const tail = createTail({ TOKEN: secret })
    tail.add(long)
    tail.add(secret.slice(0, 12))
    tail.add(`${secret.slice(12)} and more\nthe next line\n`)
    expect(tail.read()).toBe('the next line\n')
  })

  test('has no line of a secret of several lines', () => {
    const lines = ['-----BEGIN KEY-----', 'bGluZSBvbmUgb2YgdGhl', 'a2V5IGFuZCB0aGUgcmVzdA']
    const tail = createTail({ KEY: lines.join('\n') })
    tail.add(`${'x'.repeat(8 * 1024)}\n${lines.slice(0, 2).join('\n')}\n`)
    tail.add(`${lines[2]}\n${'y'.repeat(8 * 1024 - 40)}\n`)
    expect(tail.read()).not.toMatch(/bGlu|a2V5/)
    expect(tail.read()).toContain('[KEY]')
  })

  test('goes on with the lines after one that is too long', () => {
    const tail = createTail({})
    tail.add(`${long}${long}`)
    tail.add('still the long line')
    tail.add(' and its end\nfirst\nsec')
    tail.add('ond\n')
    expect(tail.read()).toBe('first\nsecond\n')
  })
})
