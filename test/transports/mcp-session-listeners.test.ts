import { expect, test } from 'vitest'
import { SessionListeners } from '../../src/transports/mcp/protocol-2025/listeners.ts'

const subscribe = 'resources/subscribe'

/** A client that listens, and what each subscription at the server is for. */
function listening(listeners: SessionListeners, session: string) {
  const filters: unknown[] = []
  const leaving = new AbortController()
  const ended = listeners.listen(session, leaving.signal, async (filter, signal) => {
    filters.push((filter as { resourceSubscriptions: unknown }).resourceSubscriptions)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    signal.throwIfAborted()
  })
  const leave = async () => {
    leaving.abort()
    await ended.catch(() => {})
  }
  return { filters, leave }
}

async function crowd(listeners: SessionListeners): Promise<void> {
  const refused = async () => {
    throw new Error('no token')
  }
  for (let number = 0; number < 1_100; number++) {
    await listeners.listen(`stranger ${number}`, new AbortController().signal, refused).catch(() => {})
    listeners.changed(`other ${number}`, subscribe, 'note://1')
  }
}

test('a session that listens hears of what it subscribes to, however many others there are', async () => {
  const listeners = new SessionListeners()
  const ada = listening(listeners, 'ada')
  await crowd(listeners)
  listeners.changed('ada', subscribe, 'note://7')
  await expect.poll(() => ada.filters).toEqual([[], ['note://7']])
  await ada.leave()
})

test('streams that are refused take the place of no subscription', async () => {
  const listeners = new SessionListeners()
  listeners.changed('ada', subscribe, 'note://7')
  const refused = () => Promise.reject(new Error('no token'))
  for (let number = 0; number < 1_100; number++)
    await listeners.listen(`stranger ${number}`, new AbortController().signal, refused).catch(() => {})
  const ada = listening(listeners, 'ada')
  expect(ada.filters).toEqual([['note://7']])
  await ada.leave()
})

test('two streams of one session are both renewed', async () => {
  const listeners = new SessionListeners()
  const streams = [listening(listeners, 'ada'), listening(listeners, 'ada')]
  listeners.changed('ada', subscribe, 'note://7')
  for (const { filters } of streams) await expect.poll(() => filters).toEqual([[], ['note://7']])
  for (const { leave } of streams) await leave()
})
