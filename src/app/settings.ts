import { z } from 'zod'
import { MirrorInput } from '../../schemas/mirror.ts'
import { standardQuotas } from '../../schemas/quota.ts'
import { addressSet } from '../common/address-set.ts'
import { isNameServer } from '../net/fetch/resolver.ts'
import { engineLocation } from '../search/elasticsearch/client.ts'

const withoutSlash = (url: string) => url.replace(/\/+$/, '')
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
)

/** A name or an address; URLs allow more characters, which are those of two URLs in one, or of a pattern. */
const hostname = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9a-f:.]+\])$/i

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && hostname.test(url.hostname) && url.href === `${url.protocol}//${url.host}/`
}

/** Origins as browsers and URLs write them: in lower case, without a slash at the end or the usual port. */
function originsLike(example: string) {
  return list
    .refine((texts) => texts.every((text) => isBase(text) && isOrigin(text)), {
      error: `Give origins alone, without a path, such as ${example}, comma-separated.`,
    })
    .transform((texts) => texts.map((text) => new URL(text).origin))
}

function areAddresses(texts: readonly string[]): boolean {
  try {
    addressSet(texts)
    return true
  } catch {
    return false
  }
}

function isBase(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:\/\//i.test(text) && hostname.test(url.hostname) && !/[@?#]/.test(text)
}

/** What paths are appended to. */
const base = z
  .string()
  .refine(isBase, {
    error: 'Give an http or https URL without a user name or a query, such as https://registry.example.com.',
  })
  .transform(withoutSlash)

/** Bases of ARD APIs, with or without `/search` at the end. */
const registries = list
  .transform((urls) => [...new Set(urls.map((url) => withoutSlash(url).replace(/\/search$/, '')))])
  .refine((urls) => urls.every(isBase), {
    error: 'Give http or https URLs without a user name or a query, such as https://registry.example/ard.',
  })
  .refine((urls) => urls.length <= 10, { error: 'At most 10 registries: each search asks all of them.' })

/** A name, which has a letter or a digit, and optionally the domain that may use it. */
const protectedName = /^[^=]*[\p{L}\p{N}][^=]*(?:=\s*[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)?$/u

/** What the value of a header field may hold (RFC 9110, section 5.5). */
const headerText = /^[\x20-\x7e\xa0-\xff]+$/

/** As the name of an image begins with it: a first part without a dot or a port is no host. */
const imageHost = /^(?:localhost|(?=.*[.:])[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?$/

const wikiLanguage = /^[a-z]{2,}(?:-[a-z0-9]+)*$/

const retention = {
  versions: 365,
  max_versions: 100,
  audit: 365,
  max_audit: 1000,
  changes: 90,
  deleted: 365,
  liveness: 90,
}

/** As `name=number`, comma-separated. */
function textOf(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

/** Reads such a text; names that are left out have their standard values. */
function readNumbers<Name extends string>(
  text: string,
  standard: Readonly<Record<Name, number>>,
  min: number,
  context: z.RefinementCtx,
): Readonly<Record<Name, number>> {
  const stated = text.split(',').map((item) => item.split('=').map((side) => side.trim()))
  const wrong = stated.find(([name = '', number = '', ...more]) => {
    const isNumber = /^\d{1,15}$/.test(number) && Number(number) >= min
    return !isNumber || !Object.hasOwn(standard, name) || more.length > 0
  })
  const names = stated.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice) context.addIssue(`${twice} is stated twice.`)
  if (wrong) context.addIssue(`${wrong.join('=')} is not one of these numbers: ${textOf(standard)}.`)
  return { ...standard, ...Object.fromEntries(stated.map(([name, number]) => [name, Number(number)])) }
}

/** A mirror as the setting names it: `official`, its URL, or `name=url`. */
export function mirrorOf(text: string): MirrorInput | undefined {
  const [, name, source = text] = /^([a-z0-9-]+)=(.+)$/.exec(text) ?? []
  if (source !== 'official' && !(/^https?:/.test(source) && URL.canParse(source))) return undefined
  return MirrorInput.safeParse({ source, ...(name !== undefined && { name }) }).data
}

/** Every setting: environment variable → [schema, what it is for]. `doctor` and the README list them from here. */
export const settings = {
  PORT: [z.coerce.number().int().min(0).max(65_535).default(8080), 'Port to listen on; 0 takes a free one.'],
  HOST: [z.string().min(1).default('127.0.0.1'), 'Address to listen on.'],
  DRAGOMAN_DATA: [
    z.string().min(1).optional(),
    "Folder of the database and the keys; the platform's when unset, or ./data if a registry is there.",
  ],
  DRAGOMAN_CONFIG: [
    z.string().min(1).optional(),
    'File of settings in JSON, which the environment overrides; DATA/dragoman.json when unset.',
  ],
  DATABASE_URL: [
    z
      .string()
      .refine((url) => /^postgres(ql)?:/.test(url) && URL.canParse(url), {
        error:
          'Give postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or leave it out for the embedded database.',
      })
      .optional(),
    'PostgreSQL database that replaces the embedded one: postgresql://USER:PASSWORD@HOST:PORT/DATABASE.',
  ],
  DRAGOMAN_BASE_URL: [
    base.optional(),
    'Public URL of the gateway, where it differs from the listening address.',
  ],
  DRAGOMAN_SITE_URL: [base.optional(), "Address that serves the registry's card; the base URL when unset."],
  DRAGOMAN_TOKEN: [z.string().optional(), 'Token that `mcp` over stdio and client commands use.'],
  DRAGOMAN_SECRET_KEY: [
    z
      .string()
      .regex(/^[\w+/-]{43}=?$/, 'Give 32 bytes in base64, such as those of `openssl rand -base64 32`.')
      .optional(),
    'Key that stored credentials are encrypted with, 32 bytes in base64; a file of the data folder when unset.',
  ],
  DRAGOMAN_ISSUERS: [
    z.string().min(1).optional(),
    'Other issuers whose tokens are accepted: the path of a JSON file, or the JSON.',
  ],
  DRAGOMAN_LOGINS: [
    z.string().min(1).optional(),
    'Where people log in (docs/authentication.md): the path of a JSON file, or the JSON.',
  ],
  DRAGOMAN_UPSTREAM_CLIENTS: [
    z.string().min(1).optional(),
    'Your clients at the authorization servers of listed agents (docs/upstream-sign-in.md): the path of a JSON file, or the JSON.',
  ],
  DRAGOMAN_CLIENT_DOCUMENTS: [
    z.enum(['on', 'off']).default('off'),
    'Whether a client may sign people in by the address of its metadata instead of a registration; needs the internet.',
  ],
  DRAGOMAN_NAMES: [
    z.enum(['open', 'proof']).optional(),
    'Which names may go live: open: every name; proof: a name under a registrable domain only with a proof of that domain; when unset, proof if DRAGOMAN_LOGINS is set, else open.',
  ],
  DRAGOMAN_MCP_ANONYMOUS: [
    z.enum(['on', 'off']).default('off'),
    'Whether the API of the MCP registry lets everybody publish under io.modelcontextprotocol.anonymous.',
  ],
  DRAGOMAN_PROTECTED_NAMES: [
    list
      .refine((names) => names.every((name) => protectedName.test(name)), {
        error: 'Give names, or names with one domain, such as Google=google.com, comma-separated.',
      })
      .default([]),
    'Display names whose imitations are flagged and rank last: Google, or Google=google.com to exempt the domain.',
  ],
  DRAGOMAN_URL: [base.optional(), 'Running gateway that commands talk to, instead of the data folder.'],
  DRAGOMAN_CONTACT: [
    z
      .string()
      .min(3)
      .max(200)
      .regex(headerText, 'Give an e-mail address or a URL: a header field cannot hold this text.')
      .optional(),
    'Your e-mail or page, sent in every outward User-Agent; the wiki agent needs it.',
  ],
  DRAGOMAN_ALLOW_ORIGINS: [
    list
      .refine((origins) => origins.every(isOrigin), {
        error: 'Give origins alone, without a path, such as http://127.0.0.1:3000, comma-separated.',
      })
      .default([]),
    'Origins exempt from the public-address rule, comma-separated.',
  ],
  DRAGOMAN_ALLOWED_WEB_ORIGINS: [
    originsLike('https://app.example.com').default([]),
    'Web origins whose pages may call MCP, JSON-RPC, envelopes and WebSockets here, comma-separated.',
  ],
  DRAGOMAN_DNS_SERVERS: [
    list
      .refine((servers) => servers.every(isNameServer), {
        error: 'Give IP addresses, with or without a port, such as 9.9.9.9, 149.112.112.112:53.',
      })
      .default([]),
    "Resolvers asked for proofs of domains, all of which must agree, comma-separated; the system's when unset.",
  ],
  DRAGOMAN_TRUSTED_PROXIES: [
    list
      .refine(areAddresses, {
        error:
          'Give IP addresses or networks such as 10.0.0.5, 10.0.0.0/8 or fd00::/8, comma-separated; names are not supported.',
      })
      .default([]),
    'IP addresses and networks (CIDR) of reverse proxies whose X-Forwarded-For is trusted, comma-separated.',
  ],
  DRAGOMAN_DRAIN: [
    z.coerce.number().min(0).max(600).default(0.3),
    'Seconds for which a gateway that stops still takes requests while /readyz answers 503; behind a balancer, longer than it takes to notice that.',
  ],
  DRAGOMAN_MAX_CONNECTIONS: [
    z.coerce.number().int().min(16).default(4096),
    'Maximum HTTP connections; half of them from one address.',
  ],
  DRAGOMAN_MAX_SOCKETS: [
    z.coerce.number().int().min(2).default(1000),
    'Maximum WebSockets; half of them are kept for callers with tokens.',
  ],
  DRAGOMAN_CALL_FIRST: [
    z.coerce.number().int().min(1).max(3600).default(60),
    'Seconds within which a listed agent must begin to answer.',
  ],
  DRAGOMAN_CALL_IDLE: [
    z.coerce.number().int().min(1).max(3600).default(60),
    'Seconds that a listed agent may be silent after that; each event and each progress notification starts them again.',
  ],
  DRAGOMAN_CALL_TOTAL: [
    z.coerce.number().int().min(1).max(86_400).default(3600),
    'Seconds that one call to a listed agent may take in all.',
  ],
  DRAGOMAN_MCP_TOOLS: [
    list.default([]),
    'MCP tools that /mcp lists, by name or by hosted agent, comma-separated; all when unset.',
  ],
  DRAGOMAN_RATE_LIMIT: [
    z.enum(['on', 'shared', 'off']).default('on'),
    'Count calls in each gateway, or together in PostgreSQL (shared; plain reads stay local); off for benchmarks.',
  ],
  DRAGOMAN_RETENTION: [
    z
      .string()
      .default(textOf(retention))
      .transform((text, context) => readNumbers(text, retention, 1, context)),
    'Days for which old data is kept, and how many versions without a version string and audit events of an agent (docs/retention.md); name those that you change.',
  ],
  DRAGOMAN_QUOTAS: [
    z
      .string()
      .default(textOf(standardQuotas))
      .transform((text, context) => (text === 'off' ? null : readNumbers(text, standardQuotas, 0, context))),
    'Limits of what one owner may store (docs/limits.md); name those that you change; off: no limits.',
  ],
  DRAGOMAN_LOG: [
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).optional(),
    'Log level; info for serve and warn for other commands when unset.',
  ],
  DRAGOMAN_METRICS: [
    z.enum(['loopback', 'public', 'off']).default('loopback'),
    'Callers that may read /metrics: loopback, public (all) or off (none).',
  ],
  DRAGOMAN_LIVENESS: [
    z.enum(['on', 'off']).default('on'),
    'Probe listed agents on a schedule; off: only on request.',
  ],
  DRAGOMAN_PROBE: [
    z.enum(['on', 'off']).default('off'),
    'Read the tools of imported MCP servers that have no owner here: 1,000 hosts a day, one request a second.',
  ],
  DRAGOMAN_PUBLISHER_FILES: [
    z.enum(['on', 'off']).default('on'),
    'Read the README and the icon of an agent at its publisher when somebody looks at them.',
  ],
  DRAGOMAN_FEDERATION: [
    registries.default([]),
    'Other registries that searches may ask (docs/catalogs.md): bases of ARD APIs such as https://registry.example/ard, comma-separated.',
  ],
  DRAGOMAN_MIRRORS: [
    list.default([]).refine((sources) => sources.every((source) => mirrorOf(source) !== undefined), {
      error: 'Give official, URL or NAME=URL, comma-separated.',
    }),
    'Registries and lists whose agents are listed here: official, URL or NAME=URL, comma-separated.',
  ],
  DRAGOMAN_RUN_MAX: [
    z.coerce.number().int().min(1).max(1000).default(8),
    'Maximum packages that run at once (docs/running.md); beyond that an unused one is stopped.',
  ],
  DRAGOMAN_RUN_IDLE: [
    z.coerce.number().int().min(1).max(86_400).default(300),
    'Seconds after which a package that nobody calls is stopped.',
  ],
  DRAGOMAN_RUN_MEMORY: [
    z.coerce.number().int().min(64).default(1024),
    'Memory of one running package, in MiB.',
  ],
  DRAGOMAN_RUN_DISK: [
    z.coerce.number().int().min(16).default(512),
    'Space for the files of one running package, in MiB.',
  ],
  DRAGOMAN_RUN_UNSANDBOXED: [
    z.enum(['1', '0']).default('0'),
    'Where no sandbox is found, 1 runs approved packages without one: with all rights of the gateway.',
  ],
  DRAGOMAN_NPM_REGISTRY: [
    base.default('https://registry.npmjs.org'),
    'Registry from which approved packages of npm are installed.',
  ],
  DRAGOMAN_PYPI_INDEX: [
    base.default('https://pypi.org/simple'),
    'Index from which approved packages of PyPI are installed.',
  ],
  DRAGOMAN_IMAGE_REGISTRIES: [
    list
      .refine((hosts) => hosts.every((host) => imageHost.test(host)), {
        error: 'Give hosts, such as ghcr.io or registry.example.com:5000, comma-separated.',
      })
      .default(['docker.io', 'ghcr.io', 'quay.io', 'mcr.microsoft.com']),
    'Hosts from which approved images (oci) are fetched, comma-separated.',
  ],
  DRAGOMAN_BUNDLE_ORIGINS: [
    originsLike('https://github.com').default(['https://github.com', 'https://gitlab.com']),
    'Origins from which approved bundles (mcpb) are fetched, comma-separated.',
  ],
  DRAGOMAN_UNMET_QUERIES: [
    z.enum(['on', 'off']).default('off'),
    'Count queries that found too little, of five callers or more, for admins. No query is logged otherwise.',
  ],
  DRAGOMAN_CHECK_OUTPUTS: [
    z.enum(['on', 'off']).default('off'),
    "Check our own agents' outputs against their schemas.",
  ],
  DRAGOMAN_EMBEDDER: [
    z.enum(['static', 'transformers', 'http']).default('static'),
    'Source of the vectors: static (the built-in table), transformers (a local model) or http (an OpenAI-compatible endpoint).',
  ],
  DRAGOMAN_MODEL: [
    z.string().min(1).optional(),
    'Folder of the model for `transformers`, its name for `http`.',
  ],
  DRAGOMAN_EMBEDDINGS_URL: [base.optional(), 'Endpoint for `http`, such as https://host/v1.'],
  DRAGOMAN_EMBEDDINGS_DIMENSIONS: [
    z.coerce.number().int().positive().optional(),
    'Numbers in a vector, where the model of that endpoint can give several.',
  ],
  DRAGOMAN_EMBEDDINGS_KEY: [z.string().min(1).optional(), 'Key for that endpoint.'],
  DRAGOMAN_EXTRAS: [
    z.string().min(1).optional(),
    'Folder of optional packages that are not installed beside the gateway; DATA/extras when unset.',
  ],
  DRAGOMAN_SYNONYMS: [
    z.string().min(1).optional(),
    'File of acronyms and synonyms for search, beside the built-in ones.',
  ],
  DRAGOMAN_SEARCH: [
    z
      .string()
      .refine((text) => text === 'memory' || engineLocation(text) !== undefined, {
        error:
          'Give memory, or elasticsearch+https://USER:PASSWORD@HOST:PORT/INDEX (elasticsearch+http:// on this machine).',
      })
      .default('memory'),
    'Search index: in memory, or in Elasticsearch for several nodes: elasticsearch+https://USER:PASSWORD@HOST:PORT/INDEX, with ?shards=3&replicas=1 for the parts and copies of a new index.',
  ],
  DRAGOMAN_VECTORS: [
    z.enum(['auto', 'memory', 'lance']).default('auto'),
    'Vector store: memory, or lance (LanceDB, on disk); auto: lance above 3,000,000 vectors, or Elasticsearch if the index is there.',
  ],
  DRAGOMAN_WIKI_URL: [
    z
      .string()
      .refine((url) => isBase(url.replaceAll('{lang}', 'en')), {
        error: 'Give the address of an api.php, where {lang} stands for the language.',
      })
      .default('https://{lang}.wikipedia.org/w/api.php'),
    'MediaWiki action API; {lang} is filled in.',
  ],
  DRAGOMAN_WIKI_LANGUAGES: [
    list
      .refine((languages) => languages.every((language) => wikiLanguage.test(language)), {
        error:
          'Give languages as the addresses of the wiki have them, such as en, de, zh-yue, comma-separated.',
      })
      .default([]),
    'Languages of the wiki that may be queried, comma-separated; all when unset.',
  ],
  DRAGOMAN_COINBASE_URL: [base.default('https://api.exchange.coinbase.com'), 'Coinbase Exchange API.'],
  DRAGOMAN_KRAKEN_URL: [base.default('https://api.kraken.com'), 'Kraken API.'],
  DRAGOMAN_BINANCE_URL: [base.default('https://data-api.binance.vision'), "Binance's mirror of market data."],
  DRAGOMAN_COINGECKO_URL: [base.default('https://api.coingecko.com'), 'CoinGecko API.'],
  DRAGOMAN_COINGECKO_KEY: [z.string().min(1).optional(), 'CoinGecko demo key; works without.'],
  DRAGOMAN_FINNHUB_URL: [base.default('https://finnhub.io'), 'Finnhub API.'],
  DRAGOMAN_FINNHUB_KEY: [z.string().min(1).optional(), 'Finnhub key, for stock prices.'],
  DRAGOMAN_TWELVE_DATA_URL: [base.default('https://api.twelvedata.com'), 'Twelve Data API.'],
  DRAGOMAN_TWELVE_DATA_KEY: [
    z.string().min(1).optional(),
    'Twelve Data key, for stock prices and exchange rates.',
  ],
  DRAGOMAN_ALPHA_VANTAGE_URL: [base.default('https://www.alphavantage.co'), 'Alpha Vantage API.'],
  DRAGOMAN_ALPHA_VANTAGE_KEY: [
    z.string().min(1).optional(),
    'Alpha Vantage key, for stock prices and exchange rates.',
  ],
  DRAGOMAN_FRANKFURTER_URL: [
    base.default('https://api.frankfurter.dev'),
    'Frankfurter API: daily exchange rates of the ECB.',
  ],
  DRAGOMAN_YAHOO_URL: [
    base.optional(),
    'Yahoo Finance, unofficial: off unless set, for example to https://query1.finance.yahoo.com.',
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>

export type Settings = { [K in keyof typeof settings]: z.output<(typeof settings)[K][0]> }
