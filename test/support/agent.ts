import { expect } from 'vitest'
import type { Agent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'

/** Runs an action of an agent as the router does: input and output are checked. */
export async function runAction(
  agent: Agent,
  name: string,
  params: object,
  signal: AbortSignal = new AbortController().signal,
  counted_as = 'caller',
) {
  const action = agent.actions.find((candidate) => candidate.name === name)
  if (!action) throw new Error(`no action ${name}`)
  const call = {
    id: 'test',
    principal: null,
    counted_as,
    deadline: Number.POSITIVE_INFINITY,
    via: [],
    signal,
  }
  const context = { ...call, emit: async () => {}, attach() {}, call: async () => null }
  return action.output.parse(await action.run(action.input.parse(params), context))
}

/** The Failure with which a promise is expected to reject. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(Failure)
  return thrown as Failure
}
