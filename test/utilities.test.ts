import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRecorded } from './mediawiki/recordings.ts'
import type { WikiSource } from './mediawiki/suite.ts'
import { pricesFrom, startGateway, type TestGateway } from './support/gateway.ts'
import { messageIn } from './support/mcp.ts'
import { json, type Replay, replay } from './support/replay.ts'

const docs = resolve(import.meta.dirname, '../docs')

interface Example {
  readonly command: string
  readonly answer: object
}

/** Each command of a document, with the answer that it shows. */
function examplesOf(document: string): Example[] {
  const text = readFileSync(join(docs, document), 'utf8')
  const pairs = text.matchAll(/^```sh\n([\s\S]*?)^```\n+```json\n([\s\S]*?)^```$/gm)
  return [...pairs].map(([, command = '', answer = '']) => ({ command, answer: JSON.parse(answer) }))
}

describe('the documents of the utility agents', () => {
  let wiki: WikiSource
  let prices: Replay
  let home: TestGateway
  let token: string

  beforeAll(async () => {
    const now = new Date()
    const yesterday = new Date(now.getTime() - 86_400_000)
    wiki = await openRecorded()
    prices = await replay({
      'GET /products/BTC-USD/ticker': json({ price: '64000.10', time: now.toISOString() }),
      'GET /0/public/Ticker': json({ error: [], result: { XXBTZUSD: { c: ['61000.00', '1'] } } }),
      'GET /api/v1/quote?symbol=AAPL': {
        headers: { 'content-type': 'application/json' },
        body: `{"c":190.50,"t":${Math.floor(now.getTime() / 1000)}}`,
      },
      'GET /v1/latest': json({
        base: 'EUR',
        date: yesterday.toISOString().slice(0, 10),
        rates: { USD: 1.0812 },
      }),
    })
    home = await startGateway({
      ...pricesFrom(prices.url),
      DRAGOMAN_FINNHUB_KEY: 'key',
      DRAGOMAN_WIKI_URL: wiki.api,
      DRAGOMAN_CONTACT: 'tests@example.org',
    })
    token = await home.token('me')
  }, 30_000)

  afterAll(async () => {
    for (const resource of [home, prices, wiki]) await resource?.[Symbol.asyncDispose]()
  })

  test.each(['wiki.md', 'finance.md'])('%s shows each transport as it answers', async (document) => {
    const examples = examplesOf(document)
    expect(examples).toHaveLength(5)
    for (const { command, answer } of examples) {
      const here = command.replaceAll('http://127.0.0.1:8080', home.url).replaceAll('curl ', 'curl -sS ')
      const { stdout } = await promisify(execFile)('bash', ['-euc', `TOKEN=${token}\n${here}`])
      expect(messageIn(stdout)).toMatchObject(answer)
    }
  })
})
