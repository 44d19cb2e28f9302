import { readFileSync } from 'node:fs'
import { wordLines } from '../../common/word-lines.ts'

/** Letters of the scripts that the names are in. */
const otherScript =
  /[\p{Script=Cyrillic}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Han}\p{Script=Arabic}\p{Script=Devanagari}]/u
const isLetter = /[\p{L}\p{N}]/u
const cyrillic = /^\p{Script=Cyrillic}/u
const hangul = /^\p{Script=Hangul}/u
const katakana = /^\p{Script=Katakana}/u
const arabic = /^\p{Script=Arabic}/u
const devanagari = /^\p{Script=Devanagari}/u
/** The endings of a Russian or Ukrainian noun in the singular; that of its first case is cut off before. */
const endings = '(?:а|у|ом|ем|е|ы|и|і|ой|ей|ю|я|ь|й)?'
const firstEnding = /[аьяй]$/u
/** Particles of Korean after a name, which mean nothing without it. */
const particles = '(?:(?:에서|에게|으로|에|로|의|을|를|이|가|은|는|과|와|도|용)(?!\\p{Script=Hangul}))?'

/** Products whose names do not say who makes them, by their maker. */
const products: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    adobe: 'photoshop lightroom',
    alibaba: 'alipay taobao',
    amazon: 'alexa aws kindle',
    anthropic: 'claude',
    apple: 'icloud imessage siri',
    atlassian: 'bitbucket confluence jira trello',
    facebook: 'instagram messenger whatsapp',
    google: 'bigquery firebase gemini gmail serpapi serper youtube',
    meta: 'facebook instagram whatsapp',
    microsoft: 'azure bing onedrive outlook sharepoint skype',
    openai: 'chatgpt gpt',
    tencent: 'wechat weixin',
  }).map(([maker, names]) => [maker, names.split(' ')]),
)

/**
 * Returns what puts the Latin name in place of a name of a product that a text has in another script. The file, read with
 * the first such text, has lines such as `notion = 노션, ノーション, ноушен`; `#` begins a comment.
 */
export function readProductNames(path: string): (text: string) => string {
  let latinise: ((text: string) => string) | undefined
  return (text) => {
    if (!otherScript.test(text)) return text
    latinise ??= latiniser(parse(readFileSync(path, 'utf8')))
    return latinise(text)
  }
}

/** The Latin name of each form. */
function parse(content: string): Map<string, string> {
  const byForm = new Map<string, string>()
  for (const [name, forms] of wordLines(content)) for (const form of forms) byForm.set(stemOf(form), name)
  return byForm
}

function latiniser(byForm: ReadonlyMap<string, string>): (text: string) => string {
  // The longest of several names counts.
  const forms = [...byForm.keys()].sort((left, right) => right.length - left.length)
  const anyOf = (script: RegExp) => forms.filter((form) => script.test(form)).join('|')
  const han = forms.filter(
    (form) => ![cyrillic, hangul, katakana, arabic, devanagari].some((script) => script.test(form)),
  )
  const patterns = [
    `(?<!\\p{L})(${anyOf(cyrillic)})${endings}(?!\\p{L})`,
    `(?<!\\p{Script=Hangul})(${anyOf(hangul)})${particles}`,
    `(?<![\\p{Script=Katakana}ー])(${anyOf(katakana)})(?![\\p{Script=Katakana}ー])`,
    `(?<!\\p{L})(?:[وف]?(?:ال|بال|لل|ب|ل))?(${anyOf(arabic)})(?!\\p{L})`,
    `(?<![\\p{L}\\p{M}])(${anyOf(devanagari)})(?![\\p{L}\\p{M}])`,
    `(${han.join('|')})`,
  ].map((pattern) => new RegExp(pattern, 'giu'))
  const latin = (whole: string, form: string, at: number, text: string) => {
    const name = byForm.get(form.toLowerCase()) ?? whole
    const before = isLetter.test(text[at - 1] ?? '') ? ' ' : ''
    const after = isLetter.test(text[at + whole.length] ?? '') ? ' ' : ''
    return `${before}${name}${after}`
  }
  return (text) => patterns.reduce((rest, pattern) => rest.replace(pattern, latin), text)
}

function stemOf(form: string): string {
  return cyrillic.test(form) ? form.replace(firstEnding, '') : form
}

/** The products of a maker, whose name is folded: who does not want Google does not want Gmail. */
export function productsOf(maker: string): readonly string[] {
  return products.get(maker) ?? []
}

/** Products and companies that people name in requests, beside those above; none is an everyday word. */
const others = [
  'activecampaign airbyte airflow ansible argocd artifactory audacity autocad bamboohr bigcommerce blender calendly',
  'cockroachdb couchbase couchdb dagster dbt digitalocean drawio dynatrace erpnext esxi fivetran freecad freshbooks',
  'geogebra gitbook gitea godot groq heroku hetzner hotjar influxdb inkscape istio jellyfin jfrog kibana kicad',
  'llamaindex logstash mailerlite mariadb matomo mendeley milvus minecraft miro mixpanel mlflow odoo ollama openrouter',
  'opsgenie overleaf pagerduty pgvector planetscale posthog powerbi prestashop proxmox pulumi rabbitmq readwise roblox',
  'sagemaker smartsheet snyk solidworks sonarqube sonos strava teamcity timescaledb trino trivy vmware woocommerce wrike',
  'youtrack zoominfo zotero',
  'airbnb airtable algolia alpaca anki anydesk arxiv asana auth0 baidu basecamp binance bluesky booking',
  'brave brevo bun canva cassandra chrome chromium circleci clickhouse clickup cloudflare coda codex cohere',
  'coinbase coingecko coinmarketcap copilot crunchyroll cursor databricks datadog deepl deepseek deno',
  'discord docker docusign doordash dropbox duckdb duckduckgo duolingo dynamodb ebay edge elasticsearch',
  'elevenlabs etsy evernote excel expedia figma firecrawl fireflies firefox firestore fitbit freshdesk',
  'garmin github gitlab godaddy grafana grok hubspot huggingface hulu ibm intercom jenkins jupyter k8s kafka',
  'kakaotalk kayak klarna klaviyo kraken kubernetes langchain lastpass leetcode linkedin linode logseq',
  'looker lyft magento mailchimp mailgun mapbox mastodon metabase midjourney mistral mongo mongodb msoffice',
  'mysql n8n naver neo4j netflix netlify netsuite nodejs notion npm nvidia obsidian okta onenote opensearch',
  'openstreetmap openweathermap oracle pandas paypal perplexity pinecone pinterest pipedrive plaid',
  'playwright postgres postgresql postman powerpoint prometheus pubmed puppeteer python qdrant quickbooks',
  'quora railway raindrop reddit redis redshift replicate replit robinhood salesforce sap selenium semrush',
  'sendgrid sentry servicenow shodan shopify signal skyscanner slack snapchat snowflake soundcloud splunk',
  'spotify sqlite square stackoverflow stripe substack supabase tableau tavily teams telegram terraform',
  'tesla ticktick tiktok todoist tripadvisor tumblr twilio twitch twitter uber vercel vimeo vscode walmart',
  'weaviate webex weibo wikipedia windows wix wordpress xero yahoo yandex yelp zapier zendesk zillow zoho',
  'zoom',
].flatMap((names) => names.split(' '))
const productNames = new Set([...products.keys(), ...[...products.values()].flat(), ...others])

/** True for the name of a product or a company, folded. */
export function isProduct(word: string): boolean {
  return productNames.has(word)
}
