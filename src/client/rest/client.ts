import createFetchClient, { type Client } from 'openapi-fetch'
import { Failure } from '../../../schemas/failure.ts'
import { hasSecret } from '../../common/url-secrets.ts'
import { type Pages, pagesOf } from './pages.ts'
import { problemIn } from './problem-error.ts'
import { type Fetch, type RetryOptions, withRetries } from './retry.ts'
import type { paths } from './schema.ts'

export interface ClientOptions extends RetryOptions {
  /** Base URL of the gateway. */
  readonly url: string | URL
  /** An access token or an API key, or what returns the current one before each call. */
  readonly token?: string | (() => string | Promise<string>)
  /** Sends the requests in the place of the global `fetch`. */
  readonly fetch?: Fetch
}

/** `GET`, `POST`, `PUT` and `DELETE` take a path of the OpenAPI document; `search` and the other methods read lists. */
export interface RestClient extends Pick<Client<paths>, 'GET' | 'POST' | 'PUT' | 'DELETE'>, Pages {}

/**
 * A client of the REST interface. Its calls reject with ProblemError for each refusal. Throws Failure
 * `invalid_request` for a URL that holds a secret.
 */
export function createClient({
  url,
  token,
  fetch = globalThis.fetch,
  ...retries
}: ClientOptions): RestClient {
  const base = new URL(url)
  if (hasSecret(`${base.pathname}${base.search}`)) throw Failure.secretInAddress()
  const client = createFetchClient<paths>({
    baseUrl: base.href.replace(/\/$/, ''),
    fetch: withRetries(fetch, retries),
    querySerializer: { array: { style: 'form', explode: true } },
  })
  client.use({
    async onRequest({ request }) {
      const value = typeof token === 'function' ? await token() : token
      if (value !== undefined) request.headers.set('Authorization', `Bearer ${value}`)
    },
    async onResponse({ response }) {
      if (!response.ok && response.status !== 304) throw await problemIn(response)
    },
  })
  const { GET, POST, PUT, DELETE } = client
  return { GET, POST, PUT, DELETE, ...pagesOf(client) }
}

/** The body of an answer of the client. */
export async function dataOf<Data>(answer: Promise<{ readonly data?: Data }>): Promise<NonNullable<Data>> {
  const { data } = await answer
  if (data === undefined || data === null) throw new Error('The answer has no body.')
  return data
}
