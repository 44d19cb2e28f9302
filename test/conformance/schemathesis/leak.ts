import type { Gateway } from '../../../src/app/gateway.ts'

/** A fault to be found: whoever has a token reads one agent as an admin does, STAGE and all. */
export function leaky(gateway: Gateway): Gateway {
  return {
    ...gateway,
    dispatch(envelope, call) {
      const { principal } = call
      if (envelope.action !== 'get_agent' || !principal) return gateway.dispatch(envelope, call)
      const scopes = new Set([...principal.scopes, 'admin' as const])
      return gateway.dispatch(envelope, { ...call, principal: { ...principal, scopes } })
    },
  }
}
