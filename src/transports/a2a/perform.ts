import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Call } from '../../router/router.ts'
import { clientOf } from '../client.ts'
import { authenticated, type Door } from '../door.ts'
import { readBody } from '../http/body.ts'
import { signalOf } from '../http/rest.ts'
import { Refusal } from './error.ts'
import { readMessage, writeMessage } from './message.ts'
import { type Operation, refusals } from './operations.ts'

/** The body of a request and the call that it makes. Throws the Failure that concerns the HTTP request as a whole. */
export async function readCall(
  door: Door,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<{ readonly body: Buffer; readonly call: Call }> {
  const { authorization } = request.headers
  await authenticated(door, authorization)
  const body = await readBody(request)
  const principal = await authenticated(door, authorization)
  return { body, call: { principal, signal: signalOf(response), id, client: clientOf(door, request) } }
}

/** The version of A2A that is spoken here; patch numbers take no part in it (section 3.6). */
const spoken = /^1\.0(?:\.\d+)?$/

/**
 * The header `A2A-Version`, or the query parameter of that name; none means 0.3 (section 3.6.2). Throws Refusal
 * VERSION_NOT_SUPPORTED.
 */
export function assertVersion({ headers, url = '' }: IncomingMessage): void {
  const asked = headers['a2a-version'] ?? new URLSearchParams(url.split('?')[1]).get('A2A-Version')
  if (typeof asked === 'string' && spoken.test(asked)) return
  throw new Refusal('VERSION_NOT_SUPPORTED', refusals.VERSION_NOT_SUPPORTED)
}

/** The result of an operation, as JSON text. Throws Refusal and Failure. */
export async function perform(
  { dispatch }: Pick<Door, 'dispatch'>,
  { refused }: Operation,
  params: unknown,
  call: Call,
): Promise<string> {
  if (refused) throw new Refusal(refused, refusals[refused])
  const asked = readMessage(params)
  const { output } = await dispatch(asked.envelope, call)
  return writeMessage(asked, output)
}
