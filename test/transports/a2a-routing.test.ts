import { afterAll, describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createRouting } from '../../src/transports/a2a/routing.ts'
import { a2aVersion, message } from '../support/a2a.ts'
import { collect, type Event, eventsOf, gist, serveWork } from '../support/a2a-server.ts'
import { startGateway } from '../support/gateway.ts'
import { hangingAction, routerOver, sampleAction, sampleAgent } from '../support/router.ts'

const hanging = hangingAction('hang')
const agent = sampleAgent('svc.test', [
  hanging.action,
  sampleAction('tell', {
    async run(_, { emit }) {
      await emit({ progress: 1, total: 2, message: 'half' })
      await emit({ progress: 2, total: 2 })
      await emit({ part: { n: 1 } })
      await emit({ part: { n: 2 } })
      return { n: 3 }
    },
  }),
  sampleAction('flood', {
    async run(_, { emit }) {
      for (let n = 0; n < 2000; n++) await emit({ part: { n } })
      return { n: 2000 }
    },
  }),
  sampleAction('fail', {
    run: async () => {
      throw new Failure('upstream_failed', 'The upstream failed.', { hint: 'Try again.' })
    },
  }),
  sampleAction('break', {
    run: async () => {
      throw new Error('a secret')
    },
  }),
  sampleAction('long', { run: async () => 'x'.repeat(1024 * 1024) }),
  sampleAction('closed', { access: 'bearer' }),
])

const stack = new AsyncDisposableStack()
const home = stack.use(await startGateway({}, { tasks: { times: { shutdown: 10 } } }))
const served = stack.use(await serveWork(home, createRouting({ ...routerOver([agent]), agents: [agent] })))
const url = served.url
afterAll(() => stack.disposeAsync())

const ask = (action: string, path: string, more: object = {}) =>
  fetch(`${url}/a2a/v1/svc.test/${path}`, {
    method: 'POST',
    headers: { ...a2aVersion, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...message([{ data: { action } }]), ...more }),
  })
const stream = async (action: string): Promise<Event[]> =>
  await collect(eventsOf(await ask(action, 'message:stream')))

describe('an action behind a stream', () => {
  test('reports progress as states, and parts and output as artifacts', async () => {
    const events = await stream('tell')
    expect(events.map(gist)).toEqual([
      'task submitted',
      'working',
      'working',
      'working',
      'artifact parts',
      'artifact parts',
      'artifact output',
      'completed',
    ])
    expect(events[2].statusUpdate.status.message.parts[0].text).toBe('half')
    expect(events[3].statusUpdate.status.message.parts[0].text).toBe('2 of 2')
    expect(events.slice(4, 7).map(({ artifactUpdate }) => artifactUpdate)).toMatchObject([
      { append: false, artifact: { parts: [{ data: { n: 1 } }] } },
      { append: true, artifact: { parts: [{ data: { n: 2 } }] } },
      { lastChunk: true, artifact: { name: 'tell', parts: [{ data: { n: 3 } }] } },
    ])
  })

  test('loses no event for a slow caller', async () => {
    const events = await stream('flood')
    const parts = events.filter((event) => gist(event) === 'artifact parts')
    expect(parts.map(({ artifactUpdate }) => artifactUpdate.artifact.parts[0].data.n)).toEqual(
      Array.from({ length: 2000 }, (_, n) => n),
    )
  })

  test('reports its failure like an error', async () => {
    const [, , { statusUpdate }] = await stream('fail')
    expect(statusUpdate.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: {
        parts: [{ text: 'The upstream failed.' }, { data: { error: { code: 502, status: 'UNAVAILABLE' } } }],
      },
    })
    const { details } = statusUpdate.status.message.parts[1].data.error
    expect(details[0]).toMatchObject({ reason: 'UPSTREAM_FAILED' })
    expect(details.at(-1).value).toMatchObject({ code: 'upstream_failed', hint: 'Try again.' })
    expect(JSON.stringify(await stream('break'))).not.toContain('secret')
    const [, , long] = await stream('long')
    expect(long.statusUpdate.status.message.parts[0].text).toContain('longer than')
  })

  test.each([
    ['closed', 401],
    ['nothing', 404],
  ])('%s is refused before it starts, as plain JSON, and leaves no task', async (action, status) => {
    const answer = await ask(action, 'message:stream')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/a2a+json'])
    expect(((await answer.json()) as Event).error.code).toBe(status)
    expect(home.gateway.taskManager.size).toBe(0)
  })

  test('is cancelled through its signal', async () => {
    const answer = await ask('hang', 'message:send', { configuration: { returnImmediately: true } })
    const { task } = (await answer.json()) as Event
    const { signal } = await hanging.started
    await ask('hang', `tasks/${task.id}:cancel`)
    expect(signal.aborted).toBe(true)
  })
})
