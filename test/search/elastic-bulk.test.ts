import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createElasticIndex } from '../../src/search/elasticsearch/elastic-index.ts'
import { serve } from '../net/support.ts'
import { documentOf, fill } from './support/documents.ts'

/** An engine that takes everything. It has the sizes of the bulk requests, and how many of them it had at once. */
async function startEngine() {
  const seen = { sizes: [] as number[], running: 0, most: 0 }
  const server = await serve(async (request, response) => {
    const { url = '', method } = request
    const isBulk = url.includes('/_bulk')
    if (isBulk) seen.most = Math.max(seen.most, ++seen.running)
    const body = await text(request)
    if (isBulk) {
      seen.sizes.push(body.length)
      seen.running--
    }
    const isMissing = method === 'GET' && url.endsWith('/.state')
    response.writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' })
    if (isMissing) response.end('{"error":{"type":"index_not_found_exception"}}')
    else if (method === 'POST') response.end('{"items":[],"_shards":{"failed":0}}')
    else response.end('{}')
  })
  return { ...server, seen }
}

it('a page of large entries is sent to an engine in requests of a megabyte, one at a time', async () => {
  await using engine = await startEngine()
  const { fetch } = createSafeFetch({ user_agent: 'test', allow_origins: [engine.origin] })
  await using index = createElasticIndex({
    location: { url: engine.origin, index: 'test' },
    fetch,
    originAt: async () => '',
    latest: async () => 1,
  })
  const description = Array.from({ length: 1000 }, (_, at) => `word${at}`).join(' ')
  await fill(
    index,
    Array.from({ length: 400 }, (_, at) => documentOf({ id: `${at}`, description })),
  )
  const { sizes, most } = engine.seen
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(4_000_000)
  expect(Math.max(...sizes)).toBeLessThan(1_100_000)
  expect(most).toBe(1)
})
