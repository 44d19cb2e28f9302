import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createJsonRpc } from '../../src/transports/json-rpc/json-rpc.ts'
import { localLimits, readMessage } from '../../src/transports/shared/message.ts'
import { anonymous, principal, sampleAction, sampleAgent } from '../support/router.ts'
import { transportOver } from '../support/transport-context.ts'

const caller = principal('ada')
const megabyte = 1024 * 1024

/** Answers batches of `box.fill`, whose output is as long as the params ask for, and counts what runs at once. */
function box() {
  const seen = { runs: 0, now: 0, most: 0 }
  const fill = sampleAction('fill', {
    async run(input) {
      seen.runs += 1
      seen.now += 1
      seen.most = Math.max(seen.most, seen.now)
      await new Promise((resolve) => setImmediate(resolve))
      seen.now -= 1
      return { text: 'x'.repeat((input as { length: number }).length) }
    },
  })
  const agents = [sampleAgent('svc.box', [fill])]
  const context = transportOver(agents)
  const answer = createJsonRpc(context, '1.0.0', () => 'made-id')
  const ask = async (count: number, length: number, extra: object[] = [], identify = () => caller) => {
    const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'box.fill', params: { length } })
    const batch = [...Array.from({ length: count }, (_, id) => request(id)), ...extra]
    return JSON.parse(
      (await answer(readMessage(JSON.stringify(batch), localLimits), { ...anonymous(), identify })) ?? '[]',
    )
  }
  return { seen, ask }
}

test('a batch runs four at a time and keeps its order', async () => {
  const { seen, ask } = box()
  const answers = await ask(50, 1)
  expect(answers.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length: 50 }, (_, id) => id))
  expect(seen).toEqual({ runs: 50, now: 0, most: 4 })
})

test('requests of a batch beyond 4 MiB of answers are too large, and its notifications still run', async () => {
  const { seen, ask } = box()
  const notification = { jsonrpc: '2.0', method: 'box.fill', params: { length: 1 } }
  const answers = await ask(48, megabyte - 1000, [notification, { jsonrpc: '1.0' }])
  const whole = answers.filter((answer: object) => 'result' in answer)
  expect(whole.length).toBeGreaterThanOrEqual(5)
  expect(whole.length).toBeLessThanOrEqual(9)
  expect(seen.runs).toBe(whole.length + 1)
  expect(answers).toHaveLength(49)
  expect(answers[47]).toMatchObject({
    id: 47,
    error: { code: -32013, data: { code: 'too_large', hint: expect.stringContaining('another batch') } },
  })
  expect(answers[48]).toMatchObject({ id: null, error: { code: -32600 } })
})

test('the caller is checked for each member: a token revoked during a batch is refused for the rest', async () => {
  const { seen, ask } = box()
  const answers = await ask(50, 1, [], () => {
    if (seen.runs < 8) return caller
    throw new Failure('unauthenticated', 'It has been revoked.')
  })
  const refused = answers.filter((answer: { error?: { code: number } }) => answer.error?.code === -32001)
  expect(answers).toHaveLength(50)
  expect(seen.runs).toBeLessThan(12)
  expect(refused).toHaveLength(50 - seen.runs)
})
