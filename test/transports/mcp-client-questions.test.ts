import { expect, test } from 'vitest'
import { ClientQuestions } from '../../src/transports/mcp/protocol-2025/client-questions.ts'

test('a question that is cancelled while it is still being sent ends only its own call', async () => {
  const questions = new ClientQuestions()
  const leaving = new AbortController()
  const sending = Promise.withResolvers<void>()
  const question = questions.ask(
    { method: 'elicitation/create', params: {} },
    { caller: 'ada', signal: leaving.signal, send: () => sending.promise },
  )
  leaving.abort()
  // An error that nobody handles would end the process, and fails this run.
  await new Promise((resolve) => setImmediate(resolve))
  sending.resolve()
  await expect(question).rejects.toMatchObject({ code: 'cancelled' })
})
