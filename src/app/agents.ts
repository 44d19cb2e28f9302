import { randomBytes } from 'node:crypto'
import type { createFinance } from '../../agents/finance/index.ts'
import { createAgents } from '../../agents/index.ts'
import { createSessions, defaultLimits } from '../../agents/playground/sessions.ts'
import { createExtractor } from '../../agents/reader/extractor.ts'
import type { RegistryPorts } from '../../agents/registry/port.ts'
import type { Agent } from '../../schemas/action.ts'
import { maxKeys } from '../auth/api-keys.ts'
import { principalKey } from '../common/principal-key.ts'
import { quotaState } from '../registry/entry/quotas.ts'
import { createUsageService, type UsageService } from '../registry/entry/usage.ts'
import { maxWebhooks } from '../registry/webhooks/webhooks.ts'
import type { Store } from '../store/store.ts'
import { extractWorker } from './assets.ts'
import type { Config } from './config.ts'
import { openDomainLogins } from './domain-logins.ts'
import type { Identity } from './identity.ts'
import type { Outbound } from './outbound.ts'
import type { RegistryServices } from './registry.ts'
import type { Runtime } from './runtime.ts'

interface AgentPorts
  extends Pick<RegistryServices, 'changes' | 'verification'>,
    Omit<RegistryPorts, 'changes' | 'webhooks' | 'quotas' | 'logins' | 'identity'> {
  readonly store: Store
  readonly outbound: Outbound
  readonly identity: Identity
  /** The list of hosted agents, for agents that show or call the others. */
  readonly hosted: readonly Agent[]
}

/** Makes the hosted agents, each with the parts of the gateway and the ways out that it needs. */
export function openAgents(runtime: Runtime, ports: AgentPorts): readonly Agent[] {
  const { stack, config, options, clock, site } = runtime
  const { store, outbound, identity, changes, hosted, verification } = ports
  const sessions = createSessions({
    store: store.sessions,
    clock,
    createId: () => randomBytes(16).toString('hex'),
    ...options.sessions,
  })
  const extractor = stack.use(createExtractor({ worker: extractWorker }))
  return createAgents({
    ...ports,
    changes: changes.feed,
    webhooks: changes.webhooks,
    quotas: openUsage(runtime, store),
    logins: openDomainLogins(runtime, identity, verification.proveLogin),
    wiki: {
      ...outbound.upstreams([originOf(config.DRAGOMAN_WIKI_URL)]),
      url: config.DRAGOMAN_WIKI_URL,
      contact: config.DRAGOMAN_CONTACT,
      languages: config.DRAGOMAN_WIKI_LANGUAGES,
    },
    finance: { ...outbound.upstreams(priceOrigins(config)), ...financeSettings(config) },
    reader: { fetch: outbound.public.fetch, extract: extractor.extract, clock },
    playground: { sessions, clock, agents: () => hosted, base_url: () => site().base_url },
  })
}

/** The price sources of the configuration. */
function financeSettings(config: Config) {
  return {
    coinbase_url: config.DRAGOMAN_COINBASE_URL,
    kraken_url: config.DRAGOMAN_KRAKEN_URL,
    binance_url: config.DRAGOMAN_BINANCE_URL,
    coingecko_url: config.DRAGOMAN_COINGECKO_URL,
    coingecko_key: config.DRAGOMAN_COINGECKO_KEY,
    finnhub_url: config.DRAGOMAN_FINNHUB_URL,
    finnhub_key: config.DRAGOMAN_FINNHUB_KEY,
    twelve_data_url: config.DRAGOMAN_TWELVE_DATA_URL,
    twelve_data_key: config.DRAGOMAN_TWELVE_DATA_KEY,
    alpha_vantage_url: config.DRAGOMAN_ALPHA_VANTAGE_URL,
    alpha_vantage_key: config.DRAGOMAN_ALPHA_VANTAGE_KEY,
    frankfurter_url: config.DRAGOMAN_FRANKFURTER_URL,
    yahoo_url: config.DRAGOMAN_YAHOO_URL,
  } satisfies Partial<Parameters<typeof createFinance>[0]>
}

/** The URLs of the price sources: configured origins are exempt from the public-address rule. */
function priceOrigins(config: Config): string[] {
  return Object.entries(financeSettings(config)).flatMap(([name, value]) =>
    name.endsWith('_url') && value !== undefined ? [value] : [],
  )
}

/**
 * The origin of an upstream's URL, exempt from the public-address rule. A host with `{lang}` gives no valid origin, so
 * the public-address rule applies to it.
 */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** The usage of owners, with the quotas of keys, webhooks and sessions. */
function openUsage({ config, options, clock, log }: Runtime, store: Store): UsageService {
  const maxSessions = (options.sessions?.limits?.owner ?? defaultLimits.owner).sessions
  return createUsageService({
    store: store.usage,
    limits: config.DRAGOMAN_QUOTAS,
    async others(owner) {
      const key = principalKey(owner)
      const [keys, webhooks, sessions] = await Promise.all([
        store.identity.keys(owner),
        store.webhooks.list(key),
        store.sessions.count(key),
      ])
      const valid = keys.filter(({ expires_at }) => expires_at > clock())
      return [
        quotaState('api_keys', 'API keys.', valid.length, maxKeys),
        quotaState('webhooks', 'Webhooks.', webhooks.length, maxWebhooks),
        quotaState('playground_sessions', 'Playground sessions.', sessions, maxSessions),
      ]
    },
    onSet: (set) => log.info(set, 'quota set'),
  })
}
