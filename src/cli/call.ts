import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

/** Calls an action and prints its output. */
export async function call(to: string, action: string, text: string): Promise<void> {
  const params = parseObject(text, 'The params')
  await using client = await openClient()
  print(await client.send({ to, action, params }))
}

/** A JSON object from the command line or a file. Throws Failure `invalid_request`. */
export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : ''
    throw new Failure('invalid_request', `${what} are not JSON. ${detail}`)
  }
  if (isRecord(value)) return value
  throw new Failure('invalid_request', `${what} are not a JSON object.`)
}
