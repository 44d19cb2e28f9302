import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fetch } from '../../../src/net/fetch/fetch.ts'
import { createTxtResolver } from '../../../src/net/fetch/resolver.ts'
import { createSafeFetch } from '../../../src/net/fetch/safe-fetch.ts'
import type { Prove } from '../../../src/registry/verification/proof.ts'
import { createProver } from '../../../src/registry/verification/prove.ts'
import { serve, type TestServer } from '../../net/support.ts'
import { type DnsServer, serveDns } from '../../support/dns.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A domain of tests: its name server, its web server, and ports that lead to them. */
interface Site extends AsyncDisposable {
  readonly dns: DnsServer
  readonly web: TestServer
  readonly fetch: Fetch
  readonly prove: Prove
  readonly originOf: (domain: string) => string
  /** What a path answers from now on: a text, or a listener. */
  put(path: string, answer: string | Answer): void
  remove(path: string): void
}

export async function startSite({
  timeout_ms = 10_000,
  allow_origins = [],
}: {
  timeout_ms?: number
  allow_origins?: readonly string[]
} = {}): Promise<Site> {
  const answers = new Map<string, string | Answer>()
  const dns = await serveDns()
  const web = await serve((request, response) => {
    const answer = answers.get(request.url ?? '')
    if (answer === undefined) return response.writeHead(404).end()
    if (typeof answer === 'function') return answer(request, response)
    response.setHeader('content-type', 'text/plain; charset=utf-8').end(answer)
  })
  const guard = createSafeFetch({ user_agent: 'test', allow_origins: [web.origin, ...allow_origins] })
  const resolveTxt = createTxtResolver({ servers: [dns.address], timeout_ms })
  const originOf = () => web.origin
  return {
    dns,
    web,
    fetch: guard.fetch,
    originOf,
    prove: createProver({ resolveTxt, fetch: guard.fetch, originOf }),
    put: (path, answer) => void answers.set(path, answer),
    remove: (path) => void answers.delete(path),
    async [Symbol.asyncDispose]() {
      for (const resource of [guard, web, dns]) await resource[Symbol.asyncDispose]()
    },
  }
}
