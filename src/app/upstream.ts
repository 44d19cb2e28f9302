import { randomBytes } from 'node:crypto'
import type { EntryDetail } from '../../schemas/card.ts'
import { createAccounts } from '../auth/authorization-server/accounts.ts'
import { createRecords } from '../auth/authorization-server/records.ts'
import type { Credentials } from '../auth/upstream-credentials.ts'
import { type Clients, createClients, readUpstreamClients } from '../auth/upstream-sign-in/clients.ts'
import { createGrants } from '../auth/upstream-sign-in/grants.ts'
import { createFindRequirement } from '../auth/upstream-sign-in/requirement.ts'
import { SignIns } from '../auth/upstream-sign-in/sign-ins.ts'
import { createUpstreamTokens, type UpstreamTokens } from '../auth/upstream-sign-in/tokens.ts'
import type { Vault } from '../auth/vault.ts'
import { monotonic } from '../common/clock.ts'
import { principalKey } from '../common/principal-key.ts'
import type { SignInPort } from '../remote/sign-in.ts'
import type { Store } from '../store/store.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Answers of authorization servers are small. */
const maxBytes = 128 * 1024
const defaultTimeout_ms = 10_000

/** The tokens that callers have at other authorization servers, and how these are reached. */
export interface Upstream {
  readonly fetch: typeof globalThis.fetch
  readonly clients: Clients
  readonly tokens: UpstreamTokens
}

interface UpstreamPorts {
  readonly store: Store
  readonly outbound: Outbound
  readonly vault: Vault
}

export async function openUpstream(
  { config, options, clock, wait, site, onErrorOf }: Runtime,
  { store, outbound, vault }: UpstreamPorts,
): Promise<Upstream> {
  const fetch = webFetch(outbound, options.upstream_timeout_ms ?? defaultTimeout_ms)
  const clients = createClients({
    fetch,
    records: createRecords(store.signIn, vault, clock),
    operator: await readUpstreamClients(config.DRAGOMAN_UPSTREAM_CLIENTS),
    base_url: () => site().base_url,
    clock,
  })
  return {
    fetch,
    clients,
    tokens: createUpstreamTokens({
      grants: createGrants({ fetch, clock }),
      clients,
      store: store.credentials,
      leases: store.leases,
      vault,
      clock,
      wait,
      onError: onErrorOf('upstream_sign_in', 'warn'),
    }),
  }
}

/** The guarded fetch for oauth4webapi: a redirect would lead a secret to another address, so none is followed. */
function webFetch({ public: { fetch } }: Outbound, timeout_ms: number): typeof globalThis.fetch {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const answer = await fetch({
      url: String(input),
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      signal: signal ?? new AbortController().signal,
      max_bytes: maxBytes,
      timeout_ms,
      refuse_redirects: true,
    })
    const isEmpty = answer.status === 204 || answer.status === 304
    const init = { status: answer.status, headers: answer.headers }
    return new Response(isEmpty ? null : Uint8Array.from(answer.body), init)
  }
}

export function openUpstreamSignIns(
  { clock, site }: Runtime,
  { fetch, clients, tokens }: Upstream,
  {
    store,
    vault,
    credentials,
  }: Pick<UpstreamPorts, 'store' | 'vault'> & { readonly credentials: Credentials },
): SignIns {
  const records = createRecords(store.signIn, vault, clock)
  const base_url = () => site().base_url
  return new SignIns({
    findRequirement: createFindRequirement(fetch, clock),
    clients,
    grants: tokens.grants,
    records,
    accounts: createAccounts(records, clock),
    credentials,
    base_url,
    clock,
    random: randomBytes,
  })
}

/** `continue_task` waits for a sign-in at most this long: most clients wait for a minute. */
const maxWait_ms = 50_000
const poll_ms = 250

/** What calls to listed agents need of sign-ins. */
export function signInPort(
  { clock, wait }: Runtime,
  { credentials, signIns }: { readonly credentials: Credentials; readonly signIns: SignIns },
): SignInPort {
  return {
    renewed: ({ entry, endpoint, principal }, refused) =>
      credentials.renewed(entry.id, endpoint.url, principal, refused),
    ask: ({ entry, endpoint, principal }, { details }) =>
      signIns.ask(
        {
          entry_id: entry.id,
          package_name: entry.package_name,
          url: endpoint.url,
          protocol: endpoint.protocol,
          card: cardOf(entry),
          challenge: details.upstream?.challenge ?? '',
        },
        principal,
      ),
    async signedIn({ entry, principal }, since, signal) {
      const time = monotonic(clock)
      const until = time() + maxWait_ms
      while (time() < until) {
        const signIn = await credentials.signInOf(principalKey(principal), entry.id)
        if (signIn && Date.parse(signIn.created_at) >= since) return
        await wait(poll_ms, signal)
      }
    },
  }
}

function cardOf({ card }: EntryDetail): Readonly<Record<string, unknown>> {
  return card.rendered_by === undefined ? card : {}
}
