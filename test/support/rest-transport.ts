import type { Json } from '../../schemas/json.ts'
import type { Route } from '../../src/transports/http/route.ts'
import { routes } from '../../src/transports/http/routes.ts'
import type { TestGateway } from './gateway.ts'
import type { TestTransport } from './transports.ts'

type Params = Readonly<Record<string, Json>>

/** REST as a transport for envelopes: uses the row of the action; an action without a row is sent as an envelope. */
export function restTransport(home: TestGateway): TestTransport {
  return {
    name: 'REST',
    kind: 'request',
    async call(envelope, token, signal) {
      const { to, action, params: all = {} } = envelope as { to: string; action: string; params?: Params }
      const { idempotency_key: key, ...params } = all
      const rows = routes.filter((row) => row.to === to && row.action === action)
      const named = rows.find(({ parameters = {} }) =>
        Object.values(parameters).some((field) => field in params),
      )
      const route = named ?? rows[0]
      const [method, path, body] = route
        ? requestFor(route, params)
        : (['POST', '/a2a/message', envelope] as const)
      const answer = await home.request(method, path, {
        body,
        token,
        signal,
        ...(key !== undefined && { headers: { 'Idempotency-Key': JSON.stringify(key) } }),
      })
      return answer.status < 400 ? { output: answer.json as Json } : { code: answer.json.code }
    },
    async [Symbol.asyncDispose]() {},
  }
}

function requestFor(route: Route, params: Params): readonly [string, string, unknown] {
  const left = { ...params }
  let path = route.path
  for (const [name, field] of Object.entries(route.parameters ?? {})) {
    path = path.replace(`:${name}`, encodeURIComponent(String(left[field])))
    delete left[field]
  }
  const method = route.method.toUpperCase()
  if (route.body) return [method, path, left]
  return [method, `${path}?${new URLSearchParams(queryOf(route, left))}`, undefined]
}

function queryOf({ query = {} }: Route, params: Params): [string, string][] {
  return Object.entries(query).flatMap(([name, field]) => {
    const value = field.split('.').reduce<unknown>((at, key) => (at as Params | undefined)?.[key], params)
    return value === undefined ? [] : [[name, String(value)] satisfies [string, string]]
  })
}
