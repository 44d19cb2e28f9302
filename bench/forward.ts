import { post } from './http.ts'
import { httpLoad } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

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

/** An envelope to a listed agent, against a bare node:http reverse proxy in front of the same agent. */
export async function forward(): Promise<Row[]> {
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
