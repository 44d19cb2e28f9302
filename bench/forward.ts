import { post } from './http.ts'
import { httpLoad } from './support/load.ts'
import { compare, median, type Row, startSubject } from './support/measure.ts'

const support = (name: string) => new URL(`./support/${name}.ts`, import.meta.url)

const capabilities = [
  {
    name: 'forecast',
    description: 'The weather of tomorrow.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]
const answer = {
  city: 'Oslo',
  temperature: -3,
  wind: { from: 'north', speed: 7 },
  text: 'Snow in the evening.',
}

export async function forward(): Promise<Row[]> {
  return [...(await envelopes()), await firstEvent()]
}

/** An envelope to a listed agent, against a bare node:http reverse proxy in front of the same agent. */
async function envelopes(): Promise<Row[]> {
  await using agent = await startSubject(support('bare-http'), [], { BENCH_ANSWER: JSON.stringify(answer) })
  const endpoints = [{ protocol: 'envelope', url: `${agent.url}/a2a/message` }]
  const listed = {
    package_name: 'com.example.weather',
    name: 'Weather',
    description: 'Forecasts.',
    endpoints,
    capabilities,
  }
  await using product = await startSubject(support('product'), ['100'], {
    BENCH_LISTED: JSON.stringify(listed),
    DRAGOMAN_ALLOW_ORIGINS: agent.url,
  })
  await using proxy = await startSubject(support('proxy'), [], { BENCH_UPSTREAM: agent.url })
  const shot = {
    ...post('/a2a/message', { to: 'com.example.weather', action: 'forecast', params: { city: 'Oslo' } }),
    headers: { Authorization: `Bearer ${product.token}` },
  }
  return await compare(
    'envelope to a listed agent',
    { subject: product, load: httpLoad(product.url, shot) },
    { subject: proxy, load: httpLoad(proxy.url, shot) },
    { warm: 20_000 },
  )
}

/** Milliseconds after which the agent begins its stream: a fast language model. */
const first_ms = 50

/** The time to the first event of an A2A stream through the gateway, against the same call of the agent itself. */
async function firstEvent(): Promise<Row> {
  const environment = { BENCH_FIRST_MS: String(first_ms) }
  await using agent = await startSubject(support('a2a-stream'), [], environment)
  const listed = { package_name: 'com.example.streaming', manifest_url: `${agent.url}/card.json` }
  await using product = await startSubject(support('product'), ['100'], {
    BENCH_LISTED: JSON.stringify(listed),
    DRAGOMAN_ALLOW_ORIGINS: agent.url,
  })
  const direct: number[] = []
  const forwarded: number[] = []
  const tenant = { tenant: listed.package_name }
  for (let round = 0; round < 120; round++) {
    direct.push(await timeToFirst(`${agent.url}/rpc`, {}, ''))
    forwarded.push(await timeToFirst(`${product.url}/a2a/v1`, tenant, product.token ?? ''))
  }
  const [value, baseline] = [median(forwarded.slice(20)), median(direct.slice(20))]
  const name = `first event of a stream that begins after ${first_ms} ms`
  const rounded = (number: number) => Number(number.toPrecision(4))
  return {
    name,
    value: rounded(value),
    unit: 'ms',
    baseline: rounded(baseline),
    ratio: rounded(value / baseline),
  }
}

async function timeToFirst(url: string, params: object, token: string): Promise<number> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendStreamingMessage',
    params: { ...params, message },
  })
  const headers = {
    'Content-Type': 'application/json',
    'A2A-Version': '1.0',
    Authorization: `Bearer ${token}`,
  }
  const started = performance.now()
  const answer = await fetch(url, { method: 'POST', headers, body })
  let time = 0
  for await (const _ of answer.body ?? []) time ||= performance.now() - started
  return time
}
