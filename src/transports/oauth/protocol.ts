import type { IncomingMessage } from 'node:http'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import { defaultScopes } from '../../auth/authorization-server/offered-scopes.ts'
import type { Mount } from '../http/app.ts'
import { readFormBody, readJsonBody } from '../http/body.ts'
import { fixedHeaders, send } from '../http/respond.ts'
import { corsHeaders, type Handler } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { protocolPages } from './pages.ts'
import { noStore, OAuthRefusal, refuse } from './refusal.ts'
import { RegistrationRefusal, registered } from './registration.ts'
import { showRefusal } from './visit.ts'

export interface ProtocolOptions {
  readonly context: TransportContext
  readonly server: AuthorizationServer
  /** Counts one request of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
  readonly countRegistration: (client: string) => void
}

/** The endpoints of the authorization server for people; the token endpoint is shared with programs. */
export function protocolMounts({ context, server, count, countRegistration }: ProtocolOptions): Mount[] {
  /** An endpoint that browsers visit; a refusal is a page. */
  const visited = (method: 'get' | 'post', path: string, run: Handler): Mount => ({
    method,
    path,
    async handler(request, response) {
      try {
        count(clientOf(context, request).address)
        for (const [name, value] of Object.entries(fixedHeaders)) response.setHeader(name, value)
        await run(request, response)
      } catch (thrown) {
        showRefusal(context, { request, response }, thrown)
      }
    },
  })
  const answer: Handler = (request, response) => server.answer(request, response)

  return [
    visited('get', '/oauth/authorize', async (request, response) => {
      const url = new URL(request.url ?? '', server.issuer())
      const mode = url.searchParams.get('response_mode')
      if (mode !== null && mode !== 'query') {
        const { html, headers } = protocolPages.error('The only supported response_mode is query.')
        return send(request, response, 400, html, headers)
      }
      if (!url.searchParams.get('scope')) url.searchParams.set('scope', defaultScopes.join(' '))
      request.url = url.pathname + url.search
      await server.answer(request, response)
    }),
    visited('get', '/oauth/authorize/:uid', answer),
    visited('get', '/oauth/device', answer),
    visited('post', '/oauth/device', async (request, response) => {
      await server.answer(request, response, (await readFormBody(request)).toString('utf8'))
    }),
    visited('get', '/oauth/device/:uid', answer),
    {
      method: 'post',
      path: '/oauth/device/code',
      open: true,
      async handler(request, response) {
        try {
          count(clientOf(context, request).address)
          const form = new URLSearchParams((await readFormBody(request)).toString('utf8'))
          if (!form.get('scope')) form.set('scope', defaultScopes.join(' '))
          await server.answer(request, response, form.toString())
        } catch (thrown) {
          refuse(context, request, response, thrown)
        }
      },
    },
    {
      method: 'post',
      path: '/oauth/register',
      open: true,
      async handler(request, response) {
        try {
          countRegistration(clientOf(context, request).address)
          const metadata = registered(await readSmallJson(request))
          if (!(await server.hasRoom())) {
            throw new OAuthRefusal('temporarily_unavailable', 'There are too many registered clients.')
          }
          for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value)
          await server.answer(request, response, JSON.stringify(metadata))
        } catch (thrown) {
          if (!(thrown instanceof RegistrationRefusal)) return refuse(context, request, response, thrown)
          const body = { error: thrown.error, error_description: thrown.message }
          send(request, response, 400, JSON.stringify(body), { ...noStore, ...corsHeaders })
        }
      },
    },
  ]
}

const maxMetadata = 16 * 1024

async function readSmallJson(request: IncomingMessage): Promise<unknown> {
  const stated = await readJsonBody(request, null)
  if (JSON.stringify(stated).length <= maxMetadata) return stated
  throw new RegistrationRefusal('invalid_client_metadata', 'The metadata is too long.')
}
