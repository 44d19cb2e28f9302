import type { ServerResponse } from 'node:http'
import type { FailureClass, LivenessStatus } from '../../schemas/liveness.ts'
import { serve, type TestServer } from '../net/support.ts'

type Answer = (response: ServerResponse) => void

/** The behaviour of an agent, and the liveness to expect after repeated probes. */
interface Behaviour {
  readonly card: Answer | TestAgentSite
  readonly endpoint: Answer | TestAgentSite | null
  readonly status: LivenessStatus
  readonly failure: FailureClass | null
}

/** An address outside of the server. */
interface TestAgentSite {
  readonly url: (server: TestServer) => string
}

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(value))
const page =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Hello</h1>')

export const soundCard: Answer = json({ name: 'Sun', description: 'Shines.', url: 'https://example.com' })
export const soundAnswer: Answer = json({ code: 'unknown_action', detail: 'There is no such action.' }, 404)
const hangs: Answer = () => {}
const breaksOff: Answer = (response) => void response.socket?.resetAndDestroy()

const closed: TestAgentSite = { url: () => 'http://127.0.0.1:9/agent' }
const nameless: TestAgentSite = { url: () => 'http://nobody.test/agent' }
const inside: TestAgentSite = { url: () => 'http://10.0.0.1/agent' }
const plain: TestAgentSite = { url: ({ port }) => `https://127.0.0.1:${port}/agent` }

const whole = { card: soundCard, endpoint: soundAnswer, status: 'alive', failure: null } as const

/** Every kind of healthy and faulty agent. */
export const behaviours: Readonly<Record<string, Behaviour>> = {
  sound: whole,
  'sound, without an endpoint': { ...whole, endpoint: null },
  'answers the probe with an output': { ...whole, endpoint: json({ pong: true }) },
  'wants a credential': { ...whole, endpoint: page(401), failure: 'auth_required' },
  forbids: { ...whole, endpoint: page(403), failure: 'auth_required' },
  'wants a credential for its card': { ...whole, card: page(401), failure: 'auth_required' },
  'wants patience': { ...whole, endpoint: page(429, { 'retry-after': '1' }), failure: 'rate_limited' },
  'has no card': { ...whole, card: page(404), status: 'degraded', failure: 'card_unreachable' },
  'has a page for a card': { ...whole, card: page(200), status: 'degraded', failure: 'card_invalid' },
  'has a card without a name': {
    ...whole,
    card: json({ skills: [] }),
    status: 'degraded',
    failure: 'card_invalid',
  },
  'has a card that nobody reaches': { ...whole, card: closed, status: 'degraded', failure: 'refused' },
  'has nothing but a page for a card': {
    ...whole,
    card: page(200),
    endpoint: null,
    status: 'dead',
    failure: 'card_invalid',
  },
  'has nothing but a lost card': {
    ...whole,
    card: page(410),
    endpoint: null,
    status: 'dead',
    failure: 'card_unreachable',
  },
  'is gone': { ...whole, endpoint: page(404), status: 'dead', failure: 'wrong_protocol' },
  'takes no envelopes': { ...whole, endpoint: page(405), status: 'dead', failure: 'wrong_protocol' },
  'shows a page': { ...whole, endpoint: page(200), status: 'dead', failure: 'invalid_answer' },
  'leads elsewhere': {
    ...whole,
    endpoint: page(307, { location: 'https://example.com/' }),
    status: 'dead',
    failure: 'invalid_answer',
  },
  fails: { ...whole, endpoint: page(500), status: 'dead', failure: 'server_error' },
  'is overrun': { ...whole, endpoint: page(503), status: 'dead', failure: 'server_error' },
  'breaks off': { ...whole, endpoint: breaksOff, status: 'dead', failure: 'broken_off' },
  'is not there': { ...whole, card: closed, endpoint: closed, status: 'dead', failure: 'refused' },
  'has no address': { ...whole, card: nameless, endpoint: nameless, status: 'dead', failure: 'dns' },
  'has no certificate': { ...whole, endpoint: plain, status: 'dead', failure: 'tls' },
  'is at an address of ours': {
    ...whole,
    card: inside,
    endpoint: inside,
    status: 'dead',
    failure: 'blocked_address',
  },
  'never answers': { ...whole, endpoint: hangs, status: 'dead', failure: 'timeout' },
}

export interface LivingAgents extends TestServer {
  /** The addresses at which agent `name` has its card and takes envelopes. */
  readonly siteOf: (name: string) => { readonly manifest_url: string; readonly endpoint_url: string | null }
  /** Adds an agent, or changes its behaviour. */
  become(name: string, behaviour: Pick<Behaviour, 'card' | 'endpoint'>): void
  /** Requests so far, as `METHOD /path`. */
  readonly requests: readonly { readonly line: string; readonly headers: Record<string, unknown> }[]
}

/** A server of agents with `/NAME/card` and `/NAME/agent`. */
export async function serveLiving(): Promise<LivingAgents> {
  const agents = new Map<string, Pick<Behaviour, 'card' | 'endpoint'>>()
  const requests: LivingAgents['requests'][number][] = []
  const server = await serve((request, response) => {
    const [, name = '', part] = (request.url ?? '').split('/').map(decodeURIComponent)
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers })
    response.on('error', () => {})
    request.resume()
    const agent = agents.get(name)
    const answer = part === 'card' ? agent?.card : agent?.endpoint
    request.once('end', () => (typeof answer === 'function' ? answer(response) : page(404)(response)))
  })
  const urlOf = (at: Answer | TestAgentSite, name: string, part: string) =>
    typeof at === 'function' ? `${server.origin}/${encodeURIComponent(name)}/${part}` : at.url(server)
  return {
    ...server,
    requests,
    become(name, behaviour) {
      agents.set(name, behaviour)
    },
    siteOf(name) {
      const { card = soundCard, endpoint = null } = agents.get(name) ?? {}
      return {
        manifest_url: urlOf(card, name, 'card'),
        endpoint_url: endpoint && urlOf(endpoint, name, 'agent'),
      }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
