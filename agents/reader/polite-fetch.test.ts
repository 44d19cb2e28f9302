import { expect, test } from 'vitest'
import { rejection } from '../../test/net/support.ts'
import { createPoliteFetch } from './polite-fetch.ts'
import type { FetchPage } from './port.ts'

const signal = new AbortController().signal
const answer = (url: string, status = 200, headers = {}) => ({
  status,
  headers,
  url,
  redirects: [],
  body: new Uint8Array(),
})

test.each([429, 503])(
  'a host that answers %i with Retry-After gets no request until then',
  async (status) => {
    let now = 1_000_000
    let requests = 0
    const fetch = createPoliteFetch(
      async ({ url }) => {
        requests++
        return answer(url, requests === 1 ? status : 200, { 'retry-after': '30' })
      },
      () => now,
    )
    await fetch({ url: 'http://a.test/1', signal })
    now += 10_000
    expect(await rejection(fetch({ url: 'http://a.test/2', signal }))).toMatchObject({
      code: 'circuit_open',
      details: { retry_after_s: 20 },
    })
    expect((await fetch({ url: 'http://b.test/', signal })).status).toBe(200)
    now += 20_000
    expect((await fetch({ url: 'http://a.test/2', signal })).status).toBe(200)
    expect(requests).toBe(3)
  },
)

test('one host gets at most six concurrent requests, and another one is not affected', async () => {
  const held: (() => void)[] = []
  const seen: string[] = []
  const fetch: FetchPage = createPoliteFetch(async ({ url }) => {
    seen.push(new URL(url).host)
    await new Promise<void>((resolve) => held.push(resolve))
    return answer(url)
  }, Date.now)
  const caller = new AbortController()
  const many = Array.from({ length: 8 }, () => fetch({ url: 'http://a.test/', signal }))
  const gone = rejection(fetch({ url: 'http://a.test/', signal: caller.signal }))
  const other = fetch({ url: 'http://b.test/', signal })
  await new Promise((resolve) => setImmediate(resolve))
  expect(seen.toSorted()).toEqual([...Array(6).fill('a.test'), 'b.test'])
  caller.abort()
  expect(await gone).toMatchObject({ code: 'cancelled' })
  while (held.length > 0) {
    held.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([...many, other])
  expect(seen).toHaveLength(9)
})
