import type { IncomingMessage, ServerResponse } from 'node:http'
import { registryExtension } from '../../../../schemas/names.ts'
import { readBody } from '../../http/body.ts'
import { identify } from '../../http/caller.ts'
import type { Headers } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import type { A2aCall } from '../work.ts'
import { refusal } from './error.ts'

/** The body of a request and the call that it requests. Throws the Failure of the HTTP request as a whole. */
export async function readCall(
  context: TransportContext,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<{ readonly body: Buffer; readonly call: A2aCall }> {
  const body = await readBody(request, await identify(context, request))
  const principal = await identify(context, request)
  const extensions = requestedExtensions(request)
  const call = { principal, signal: signalOf(response), id, client: clientOf(context, request) }
  return { body, call: extensions === undefined ? call : { ...call, extensions } }
}

/** The URIs of the extensions that the caller requests; 0.3 has another name for the header. */
function requestedExtensions({ headers }: IncomingMessage): string | undefined {
  const value = headers['a2a-extensions'] ?? headers['x-a2a-extensions']
  return typeof value === 'string' ? value : undefined
}

/** Patch numbers are not part of a version (section 3.6). */
const current = /^1\.0(?:\.\d+)?$/
const legacy = /^(?:0\.3(?:\.\d+)?)?$/

/** The version in the header `A2A-Version` or the query parameter of that name; none means 0.3 (section 3.6.2). */
export function versionOf({ headers, url = '' }: IncomingMessage): '1.0' | '0.3' | undefined {
  const requested = headers['a2a-version'] ?? queryOf(url).get('A2A-Version') ?? ''
  if (typeof requested !== 'string') return undefined
  return current.test(requested) ? '1.0' : legacy.test(requested) ? '0.3' : undefined
}

/** Throws A2aRefusal VERSION_NOT_SUPPORTED. */
export function assertCurrent(request: IncomingMessage): void {
  if (versionOf(request) !== '1.0') throw refusal('VERSION_NOT_SUPPORTED')
}

export const base = '/a2a/v1/'

export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

/** A name has no colon, which every operation that is sent by POST has, and at most one slash, encoded or not. */
const agentPath = /^[^/:%]+(?:(?:\/|%2F)[^/:%]+)?$/i

/** The name of the agent at `/a2a/v1/NAME`; undefined for every other path. */
export function agentAt(path: string): string | undefined {
  const name = path.startsWith(base) ? path.slice(base.length) : ''
  return agentPath.test(name) ? decodeURIComponent(name) : undefined
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?')[1])
}

/**
 * The extensions that the caller requests and that are active (section 4.6.2): only the one that cards declare,
 * which requires no action of either side.
 */
export function extensionHeaders(request: IncomingMessage): Headers {
  const requested = (requestedExtensions(request) ?? '').split(',')
  if (!requested.some((uri) => uri.trim() === registryExtension)) return {}
  const name = versionOf(request) === '0.3' ? 'X-A2A-Extensions' : 'A2A-Extensions'
  return { [name]: registryExtension }
}
