import type { Envelope } from '../../schemas/envelope.ts'
import { type Code, codes, type Details, Failure } from '../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../schemas/json.ts'
import { registryName } from '../../schemas/names.ts'
import type { Principal } from '../../schemas/scope.ts'
import { type Config, readConfig } from '../app/config.ts'
import type { Logger } from '../telemetry/log.ts'

/** Sends envelopes: to a running gateway where DRAGOMAN_URL names one, else to the data folder, as its operator. */
export interface Client extends AsyncDisposable {
  /** `Output` names the output of the action, which is not checked here. */
  send<Output = Json>(envelope: Envelope): Promise<Output>
  /** The body of a stream of events; undefined where a gateway offers none. Absent for the data folder. */
  stream?(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Resolves once searches see what is committed, or cannot for now. Absent for a running gateway. */
  settled?(): Promise<void>
}

/**
 * `as` replaces the operator as the caller of local calls; null is a caller without a token. `log` takes what a gateway
 * of this process logs.
 */
export async function openClient(
  config: Config = readConfig(),
  as?: Principal | null,
  log?: Logger,
): Promise<Client> {
  const { DRAGOMAN_URL: url, DRAGOMAN_TOKEN: token } = config
  if (url === undefined) return await local(config, as, log)
  const { accessToken } = await import('./sign-in/session.ts')
  return remote(url, token ?? (await accessToken(url)))
}

/** Asks the registry for one action, at a client that is open. */
export async function ask<Output = Json>(
  client: Pick<Client, 'send'>,
  action: string,
  params: object = {},
): Promise<Output> {
  return await client.send({ to: registryName, action, params: params as JsonObject })
}

async function local(config: Config, as?: Principal | null, log?: Logger): Promise<Client> {
  const [{ openGateway }, { localPrincipal }] = await Promise.all([
    import('../app/gateway.ts'),
    import('../auth/authenticator.ts'),
  ])
  const gateway = await openGateway(config, log && { log })
  const { signal } = new AbortController()
  const principal = as === undefined ? localPrincipal : as
  return {
    send: async <Output>(envelope: Envelope) =>
      (await gateway.dispatch(envelope, { principal, client: 'local', signal })).output as Output,
    settled: gateway.settled,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

function remote(url: string, token: string | undefined): Client {
  const authorization = token ? { Authorization: `Bearer ${token}` } : {}
  const ask = (path: string, request: RequestInit) =>
    fetch(`${url}${path}`, request).catch((fault) => {
      throw new Failure('unavailable', `${url} does not answer.`, { hint: otherGateway }, fault)
    })
  return {
    async send<Output>(envelope: Envelope) {
      const answer = await ask('/a2a/message', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...authorization },
        body: JSON.stringify(envelope),
      })
      const body: unknown = await answer.json().catch(() => undefined)
      if (answer.ok) return body as Output
      throw toFailure(body, answer.status, url)
    },
    async stream(path, signal) {
      const answer = await ask(path, { headers: { Accept: 'text/event-stream', ...authorization }, signal })
      if (answer.ok && answer.headers.get('content-type')?.startsWith('text/event-stream'))
        return answer.body ?? undefined
      await answer.body?.cancel()
      return undefined
    },
    async [Symbol.asyncDispose]() {},
  }
}

const otherGateway =
  'Commands go to the gateway of DRAGOMAN_URL, else to that of the last dragoman login. Start that gateway, or give the base URL of another; after dragoman logout, and without DRAGOMAN_URL, they use the data of this machine.'

function toFailure(body: unknown, status: number, url: string): Failure {
  if (isRecord(body) && typeof body.code === 'string' && body.code in codes) {
    const { code, detail, ...details } = body
    return new Failure(code as Code, String(detail), details as Details)
  }
  return new Failure('upstream_invalid', `${url} answers ${status}, and is not a Dragoman gateway.`, {
    hint: otherGateway,
  })
}
