import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { StoredTask } from '../../schemas/task.ts'
import { type StreamStyle, sendEvents } from '../../src/transports/a2a/stream.ts'
import { TaskChannel } from '../../src/transports/a2a/tasks/channel.ts'
import { EventQueue } from '../../src/transports/a2a/tasks/event-queue.ts'
import { type StreamEvent, statusEvent } from '../../src/transports/a2a/tasks/view.ts'
import { serve } from '../net/support.ts'

const style: StreamStyle = {
  write: JSON.stringify,
  fault: () => '"fault"',
  watch: () => {},
  keep_alive_ms: 5,
}

/** What one caller reads of the events. */
async function served(
  events: AsyncIterable<StreamEvent>,
  overrides: Partial<StreamStyle> = {},
): Promise<string> {
  await using server = await serve((_, response) => {
    void sendEvents(response, events, { ...style, ...overrides }, { 'X-Request-Id': 'mine' })
  })
  const answer = await fetch(server.origin)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  expect(answer.headers.get('x-request-id')).toBe('mine')
  return await answer.text()
}

test('an idle stream gets keep-alive comments until its caller may no longer listen', async () => {
  let left = false
  const queue = new EventQueue<StreamEvent>(1, () => {
    left = true
  })
  const watch: StreamStyle['watch'] = (end) => {
    setTimeout(() => end(new Failure('unauthenticated', 'Revoked.')), 50)
  }
  expect(await served(queue, { watch })).toMatch(/^(: still here\n\n)+data: "fault"\n\n$/)
  expect(left).toBe(true)
})

test('an error in the middle is sent in the form of the binding, if it has one', async () => {
  async function* broken(): AsyncGenerator<StreamEvent> {
    yield { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING', timestamp: '' } } }
    throw new Error('a secret')
  }
  expect((await served(broken())).split('\n\n').at(-2)).toBe('data: "fault"')
  expect(await served(broken(), { fault: () => undefined })).not.toContain('fault')
})

test('a listener that does not read is dropped, and delays no other', async () => {
  const queue = new EventQueue<number>(2, () => {})
  queue.push(1)
  queue.push(2)
  let hasRoom = false
  const ready = queue.ready().then(() => {
    hasRoom = true
  })
  await Promise.resolve()
  expect(hasRoom).toBe(false)
  queue.leave()
  await ready
  const iterator = queue[Symbol.asyncIterator]()
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
})

describe('a channel to several listeners', () => {
  const task: StoredTask = {
    id: 't',
    owner: null,
    agent: null,
    counted_by: 'local',
    context_id: 'c',
    state: 'TASK_STATE_WORKING',
    updated_at: '2026-11-01T00:00:00.000Z',
    expires_at: '2026-11-01T01:00:00.000Z',
    holder: 'h',
    alive_until: null,
    message: null,
    history: [],
    artifacts: [],
  }
  const flood = (channel: TaskChannel) =>
    channel.publish(
      task,
      Array.from({ length: 300 }, () => statusEvent(task)),
    )

  test('is ready when the slowest listener has read enough', async () => {
    const channel = new TaskChannel(task, () => {})
    const [slow, quick] = [channel.follow(), channel.follow()].map((queue) => queue[Symbol.asyncIterator]())
    flood(channel)
    let hasRoom = false
    const ready = channel.ready().then(() => {
      hasRoom = true
    })
    for (let taken = 0; taken < 301; taken++) await quick?.next()
    for (let taken = 0; taken < 45; taken++) await slow?.next()
    expect(hasRoom).toBe(false)
    await slow?.next()
    await ready
    expect(channel.listeners).toBe(2)
  })

  test('drops a listener that does not read for too long', async () => {
    const channel = new TaskChannel(task, () => {}, 1)
    channel.follow()
    const quick = channel.follow()[Symbol.asyncIterator]()
    flood(channel)
    for (let taken = 0; taken < 301; taken++) await quick.next()
    await channel.ready()
    expect(channel.listeners).toBe(1)
  })
})
