import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPaced } from '../../src/common/paced.ts'

describe('paced changes', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('are sent at once, then once a second, including the last one', () => {
    let change = () => {}
    const onChange = createPaced((listener) => {
      change = listener
      return () => {}
    })
    let calls = 0
    onChange(() => {
      calls += 1
    })
    change()
    expect(calls).toBe(1)
    for (let count = 0; count < 100; count++) change()
    expect(calls).toBe(1)
    vi.advanceTimersByTime(1000)
    expect(calls).toBe(2)
    vi.advanceTimersByTime(5000)
    expect(calls).toBe(2)
    change()
    expect(calls).toBe(3)
  })

  test('are observed while there is a listener', () => {
    let calls = 0
    const onChange = createPaced(() => {
      calls += 1
      return () => {
        calls -= 1
      }
    })
    const [first, other] = [onChange(() => {}), onChange(() => {})]
    expect(calls).toBe(1)
    first()
    expect(calls).toBe(1)
    other()
    expect(calls).toBe(0)
  })
})
