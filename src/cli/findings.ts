import { styleText } from 'node:util'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import type { Finding } from '../../schemas/trust.ts'
import { isLoopback } from '../transports/shared/hosts.ts'

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

export function lineOfFinding({ severity, code, field, message, suggestion }: Finding): string {
  return `${styleText(colours[severity], severity)} ${field || '/'} ${message} ${suggestion ?? ''}`
    .trimEnd()
    .concat(` (${code})`)
}

/** What a publisher stumbles over later: endpoints at which only this machine answers. */
export function warnings({ endpoints }: { readonly endpoints: readonly Endpoint[] }): string[] {
  const local = endpoints.flatMap(({ url }) => {
    const parsed = URL.parse(url)
    return parsed && isLoopback(parsed.hostname) ? [parsed.origin] : []
  })
  return [...new Set(local)].map(
    (origin) =>
      `${styleText('yellow', 'warning')} ${origin} is this machine's own address: a gateway calls it only if it is started with DRAGOMAN_ALLOW_ORIGINS=${origin}`,
  )
}
