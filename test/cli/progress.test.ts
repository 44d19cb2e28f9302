import { afterEach, expect, test, vi } from 'vitest'
import { showWaiting } from '../../src/cli/progress.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A stream that stores what is written to it. */
function stream(isTTY: boolean) {
  const written: string[] = []
  const write = (text: string) => written.push(text)
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream }
}

test('work over a second counts its seconds on a terminal, and leaves nothing there', () => {
  vi.useFakeTimers()
  const terminal = stream(true)
  const waiting = showWaiting(terminal.stream)
  vi.advanceTimersByTime(900)
  expect(terminal.written).toEqual([])
  vi.advanceTimersByTime(2000)
  waiting[Symbol.dispose]()
  vi.advanceTimersByTime(5000)
  expect(terminal.written).toEqual(['\r\u001b[K… 1 s', '\r\u001b[K… 2 s', '\r\u001b[K'])
})

test('short work, and work in a pipe, shows nothing', () => {
  vi.useFakeTimers()
  const [terminal, pipe] = [stream(true), stream(false)]
  showWaiting(terminal.stream)[Symbol.dispose]()
  const waiting = showWaiting(pipe.stream)
  vi.advanceTimersByTime(3000)
  waiting[Symbol.dispose]()
  expect([...terminal.written, ...pipe.written]).toEqual([])
})
