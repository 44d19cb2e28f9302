import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { OpenCalls } from '../../src/remote/mcp/open-calls.ts'
import type { McpReply, RemoteCall } from '../../src/remote/remote-agent.ts'

test('two answers at once to one question leave no listener on the signals of their calls', async () => {
  const calls = new OpenCalls()
  const replied = Promise.withResolvers<McpReply>()
  const callOf = (signal: AbortSignal): RemoteCall => ({
    signal,
    headers: {},
    caller: 'ada',
    onActivity() {},
    emit: async () => {},
  })
  const signals = [1, 2, 3].map(() => new AbortController().signal)
  const [first, second, third] = signals.map(callOf) as [RemoteCall, RemoteCall, RemoteCall]
  const question = await calls.run({}, first, async (_call, ask) => {
    await ask({ method: 'elicitation/create', params: {} })
    return await replied.promise
  })
  if ('error' in question) throw new Error(question.error.message)
  const params = { requestState: String(question.result.requestState), inputResponses: {} }
  const answers = [second, third].map((call) => calls.run(params, call, () => replied.promise))
  replied.resolve({ result: { content: [] } })
  await Promise.all(answers)
  expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0])
})
