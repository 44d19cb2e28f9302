import { expect, test } from 'vitest'
import { abortable, linkSignals } from '../../src/common/abort.ts'
import { rejection } from '../net/support.ts'

test('a link aborts with any of its signals, also one that has aborted before', () => {
  const first = new AbortController()
  using both = linkSignals(new AbortController().signal, first.signal)
  first.abort('first')
  expect(both.signal.reason).toBe('first')
  expect(linkSignals(first.signal).signal.reason).toBe('first')
})

test('a link ignores its signals once it is disposed', () => {
  const first = new AbortController()
  const only = linkSignals(first.signal)
  only[Symbol.dispose]()
  first.abort()
  expect(only.signal.aborted).toBe(false)
})

test('an abortable promise rejects as soon as its signal aborts, and settles as the promise otherwise', async () => {
  const caller = new AbortController()
  const never = rejection(abortable(new Promise(() => {}), caller.signal))
  expect(await abortable(Promise.resolve('done'), caller.signal)).toBe('done')
  caller.abort('gone')
  expect(await never).toBe('gone')
  expect(await rejection(abortable(new Promise(() => {}), caller.signal))).toBe('gone')
})
