import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { openClient } from './client.ts'
import { parseObject, readObject } from './input.ts'
import { print } from './output.ts'
import { showWaiting } from './progress.ts'

/** Calls an action and prints its output. `input`: the params as JSON, @FILE, or - for standard input. */
export async function call(to: string, action: string, input: string): Promise<void> {
  const params = await paramsOf(input)
  print(await answerOf(to, action, params))
}

async function answerOf(to: string, action: string, params: Record<string, unknown>): Promise<Json> {
  using _waiting = showWaiting()
  await using client = await openClient()
  try {
    return await client.send({ to, action, params })
  } catch (fault) {
    throw withInputHint(fault, to)
  }
}

/** Refusals of params name each field; where all of them are described is said here. */
function withInputHint(fault: unknown, to: string): unknown {
  if (!(fault instanceof Failure) || fault.code !== 'invalid_request') return fault
  if (fault.details.hint !== undefined || fault.details.errors === undefined) return fault
  const hint = `To see what its actions take: dragoman resolve ${to}`
  return new Failure(fault.code, fault.message, { ...fault.details, hint }, fault)
}

const paramsHint = `Write an object in single quotes, such as '{"url": "https://example.com/"}', or name a file: @params.json`

async function paramsOf(input: string): Promise<Record<string, unknown>> {
  if (input === '-') return await readObject(input)
  return input.startsWith('@') ? await readObject(input.slice(1)) : parseObject(input, 'PARAMS', paramsHint)
}
