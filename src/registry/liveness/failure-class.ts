import type { Failure } from '../../../schemas/failure.ts'
import type { FailureClass } from '../../../schemas/liveness.ts'

/** Connection errors by the codes of Node and undici. */
const byCode: readonly (readonly [RegExp, FailureClass])[] = [
  [/^(ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/, 'dns'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, 'refused'],
  [/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_|^EPROTO$|^HOSTNAME_MISMATCH$/, 'tls'],
]

/** JSON-RPC and A2A codes of an unsupported version or method: the agent answers, but not as its card declares. */
const otherProtocol = new Set(['METHOD_NOT_FOUND', 'VERSION_NOT_SUPPORTED'])

/** The failure class of a Failure. */
export function classOf({ code, details }: Failure): FailureClass {
  const { status, code: reason = '' } = details.upstream ?? {}
  if (code === 'blocked_address') return 'blocked_address'
  if (status === 401 || status === 403) return 'auth_required'
  if (status === 429 || code === 'rate_limited') return 'rate_limited'
  if (code === 'upstream_timeout') return 'timeout'
  if (code === 'upstream_failed') {
    if (status !== undefined) return 'server_error'
    return (
      byCode.find(([pattern]) => pattern.test(reason))?.[1] ??
      (isWord(reason) ? 'server_error' : 'broken_off')
    )
  }
  if (otherProtocol.has(reason) || (status !== undefined && status >= 400)) return 'wrong_protocol'
  return 'invalid_answer'
}

/** True for a code of the agent's protocol, false for a code of a connection. */
function isWord(reason: string): boolean {
  return reason === 'INTERNAL_ERROR' || reason === 'INVALID_AGENT_RESPONSE' || reason === 'UNAVAILABLE'
}

/** True if an agent with this failure is alive: it asks for a credential, or for a retry later. */
export function answers(failure: FailureClass): boolean {
  return failure === 'auth_required' || failure === 'rate_limited'
}
