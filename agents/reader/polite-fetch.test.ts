import { expect, test } from 'vitest'
import { rejection } from '../../test/net/support.ts'
import { createPoliteFetch } from './polite-fetch.ts'

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
    await fetch({ url: 'http://a.test/1', signal, caller: 'a' })
    now += 10_000
    expect(await rejection(fetch({ url: 'http://a.test/2', signal, caller: 'a' }))).toMatchObject({
      code: 'circuit_open',
      details: { retry_after_s: 20 },
    })
    expect((await fetch({ url: 'http://b.test/', signal, caller: 'a' })).status).toBe(200)
    now += 20_000
    expect((await fetch({ url: 'http://a.test/2', signal, caller: 'a' })).status).toBe(200)
    expect(requests).toBe(3)
  },
)

test('a Retry-After holds back the caller whose URL it answers, and no other', async () => {
  const fetch = createPoliteFetch(
    async ({ url }) => (url.endsWith('/busy') ? answer(url, 503, { 'retry-after': '3600' }) : answer(url)),
    () => 0,
  )
  await fetch({ url: 'http://a.test/busy', signal, caller: 'a' })
  const refused = rejection(fetch({ url: 'http://a.test/', signal, caller: 'a' }))
  expect(await refused).toMatchObject({ code: 'circuit_open' })
  expect((await fetch({ url: 'http://a.test/', signal, caller: 'b' })).status).toBe(200)
})

/** A server that holds every request until it is told to answer. */
function holding() {
  const held: (() => void)[] = []
  const seen: string[] = []
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const fetch = createPoliteFetch(async ({ url }) => {
    seen.push(new URL(url).host)
    await new Promise<void>((resolve) => held.push(resolve))
    return answer(url)
  }, Date.now)
  const many = (count: number, url: string, caller: string) =>
    Array.from({ length: count }, () => fetch({ url, signal, caller }))
  async function answerAll() {
    while (held.length > 0) {
      held.shift()?.()
      await turn()
    }
  }
  return { fetch, seen, turn, many, answerAll }
}

test('one host gets at most six concurrent requests, four of one caller, and another host is not affected', async () => {
  const { fetch, seen, turn, many, answerAll } = holding()
  const leaving = new AbortController()
  const url = 'http://a.test/'
  const flood = many(8, url, 'flood')
  const gone = rejection(fetch({ url, signal: leaving.signal, caller: 'flood' }))
  const other = fetch({ url: 'http://b.test/', signal, caller: 'flood' })
  await turn()
  expect(seen.toSorted()).toEqual([...Array(4).fill('a.test'), 'b.test'])
  const others = [...many(1, url, 'one'), ...many(1, url, 'two'), ...many(2, url, 'three')]
  await turn()
  expect(seen.filter((host) => host === 'a.test')).toHaveLength(6)
  leaving.abort()
  expect(await gone).toMatchObject({ code: 'cancelled' })
  await answerAll()
  await Promise.all([...flood, ...others, other])
  expect(seen).toHaveLength(13)
})

test('one caller has at most sixteen concurrent requests, whatever the hosts', async () => {
  const { seen, turn, many, answerAll } = holding()
  const flood = Array.from({ length: 20 }, (_, index) => many(1, `http://h${index}.test/`, 'flood')).flat()
  await turn()
  expect(seen).toHaveLength(16)
  await answerAll()
  await Promise.all(flood)
})
