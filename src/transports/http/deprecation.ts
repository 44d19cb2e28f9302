import { Deprecation } from '../../../schemas/deprecation.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { type Headers, publicPath } from './respond.ts'

/** The headers of RFC 9745, with a link to the successor as in RFC 5829. Empty if the agent is not deprecated. */
export function deprecationHeaders(context: Pick<TransportContext, 'site'>, deprecated: unknown): Headers {
  if (deprecated === undefined || deprecated === null) return {}
  const { success, data } = Deprecation.safeParse(deprecated)
  if (!success) return {}
  const { at, successor } = data
  return {
    Deprecation: `@${Math.floor(Date.parse(at) / 1000)}`,
    ...(successor !== null && {
      Link: `<${publicPath(context, `/public/agents/${encodeURIComponent(successor)}`)}>; rel="successor-version"`,
    }),
  }
}
