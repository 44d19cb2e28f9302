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
  return await client.send({ to, action, params })
}

async function paramsOf(input: string): Promise<Record<string, unknown>> {
  if (input === '-') return await readObject(input)
  return input.startsWith('@') ? await readObject(input.slice(1)) : parseObject(input, 'PARAMS')
}
