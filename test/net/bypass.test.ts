import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { blocked, invalidUrls, isPublic, names, reachable } from './hosts.ts'
import { rejection, resolver, serve } from './support.ts'

const signal = new AbortController().signal

const secret = await serve((_request, response) => response.end('the secret'), '0.0.0.0')
const secretOnSix = await serve((_request, response) => response.end('the secret'), '::1', secret.port)
const port = secret.port
const open = await serve((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://x')
  const to = searchParams.get('to')
  response.setHeader('connection', 'close')
  if (to === null) return response.end('public')
  response.writeHead(Number(searchParams.get('status') ?? 302), { location: to }).end()
}, '127.0.0.2')
const guard = createSafeFetch({
  user_agent: 'test',
  lookup: resolver(names),
  is_public: isPublic,
  ports: [80, 443, port, open.port],
})

afterAll(async () => {
  for (const resource of [guard, open, secretOnSix, secret]) await resource?.[Symbol.asyncDispose]()
})

const leaks = () => secret.hits() + secretOnSix.hits()
const redirect = (to: string, status = 302) =>
  `http://public.test:${open.port}/?status=${status}&to=${encodeURIComponent(to)}`

const visible = (url: string) => JSON.stringify(url)

describe('a URL that is not public', () => {
  test.each(blocked.map((url) => [visible(url), url]))('%s is a blocked address', async (_name, url) => {
    const failure = await rejection(guard.fetch({ url: url.replace(':P', `:${port}`), signal }))
    expect(failure).toMatchObject({ code: 'blocked_address' })
    expect(leaks()).toBe(0)
  })

  test.each(invalidUrls.map((url) => [visible(url), url]))('%s is an invalid request', async (_name, url) => {
    const failure = await rejection(guard.fetch({ url: url.replace(':P', `:${port}`), signal }))
    expect(failure).toMatchObject({ code: 'invalid_request', details: { errors: [{ pointer: '/url' }] } })
    expect(leaks()).toBe(0)
  })

  test.each([
    'http://public.test:Q\\@127.0.0.1:P/',
    'http://public.test:Q#@127.0.0.1:P/',
    'http://public.test:Q/@127.0.0.1:P/',
  ])('%s sends a request only to the public host', async (url) => {
    const target = url.replace(':Q', `:${open.port}`).replace(':P', `:${port}`)
    const answer = await guard.fetch({ url: target, signal })
    expect(Buffer.from(answer.body).toString()).toBe('public')
    expect(leaks()).toBe(0)
  })

  test('names the setting that would allow it, and does not reveal what listens there', async () => {
    const closed = await rejection(guard.fetch({ url: 'http://127.0.0.1:443/', signal }))
    const listening = await rejection(guard.fetch({ url: `http://127.0.0.1:${port}/`, signal }))
    expect(listening).toMatchObject({ details: { hint: expect.stringContaining('DRAGOMAN_ALLOW_ORIGINS') } })
    expect(String(listening).replace(`:${port}`, '')).toBe(String(closed).replace(':443', ''))
  })
})

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('of status %i to a private address is blocked', async (status) => {
    for (const to of [`http://127.0.0.1:${port}/`, `//[::1]:${port}/`, `http://private.test:${port}/`]) {
      const failure = await rejection(guard.fetch({ url: redirect(to, status), signal }))
      expect(failure).toMatchObject({ code: 'blocked_address' })
    }
    expect(leaks()).toBe(0)
  })

  test('at the end of a chain of public ones is blocked', async () => {
    const url = redirect(redirect(redirect(`http://2130706433:${port}/`)))
    expect(await rejection(guard.fetch({ url, signal }))).toMatchObject({ code: 'blocked_address' })
    expect(leaks()).toBe(0)
  })

  test.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:text/plain,x',
    'http://a@public.test/',
    'http://[',
  ])('to %s is refused as an error of the upstream', async (to) => {
    const failure = await rejection(guard.fetch({ url: redirect(to), signal }))
    expect(failure).toMatchObject({ code: 'upstream_invalid' })
  })
})

describe('a name', () => {
  test('that turns private after its first answer is blocked from then on', async () => {
    const lookup = resolver({ 'rebound.test': [['127.0.0.2'], ['127.0.0.1']] })
    await using rebound = createSafeFetch({
      user_agent: 'test',
      lookup,
      is_public: isPublic,
      ports: [port, open.port],
    })
    const first = await rebound.fetch({ url: `http://rebound.test:${open.port}/`, signal })
    const failure = await rejection(rebound.fetch({ url: `http://rebound.test:${port}/`, signal }))
    expect(first.status).toBe(200)
    expect(failure).toMatchObject({ code: 'blocked_address' })
    expect(leaks()).toBe(0)
  })

  test('is connected to the address that was checked, without a second lookup', async () => {
    let requests = 0
    const inner = resolver({ 'once.test': [['127.0.0.2'], ['127.0.0.1']] })
    await using fetcher = createSafeFetch({
      user_agent: 'test',
      lookup: (...query) => {
        requests++
        inner(...query)
      },
      is_public: isPublic,
      ports: [open.port],
    })
    await fetcher.fetch({ url: `http://once.test:${open.port}/`, signal })
    expect(requests).toBe(1)
  })
})

test('a socket whose remote address is not the checked one is closed', async () => {
  const before = secret.hits()
  let checks = 0
  await using fetcher = createSafeFetch({
    user_agent: 'test',
    is_public: () => ++checks < 3,
    ports: [port],
  })
  const failure = await rejection(fetcher.fetch({ url: `http://127.0.0.1:${port}/`, signal }))
  expect(failure).toMatchObject({ code: 'blocked_address' })
  expect(checks).toBe(3)
  expect(secret.hits()).toBe(before)
})

test('proxy settings in the environment have no effect', async () => {
  await using proxy = await serve((_request, response) => response.end('through the proxy'))
  const source = `
    import { createSafeFetch } from '${new URL('../../src/net/fetch/safe-fetch.ts', import.meta.url)}'
    const { fetch } = createSafeFetch({ user_agent: 'test', ports: [${port}, ${open.port}],
      lookup: (name, _, done) => done(null, [{ address: name === 'public.test' ? '127.0.0.2' : '127.0.0.1', family: 4 }]),
      is_public: (address) => address === '127.0.0.2' })
    const signal = new AbortController().signal
    const ask = (url) => fetch({ url, signal }).then((answer) => Buffer.from(answer.body).toString(), (error) => error.code)
    console.log(JSON.stringify([await ask('http://public.test:${open.port}/'), await ask('http://private.test:${port}/')]))
    process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: {
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: proxy.origin,
      HTTPS_PROXY: proxy.origin,
      http_proxy: proxy.origin,
    },
  })
  const [printed, complaints] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  expect(`${printed}${complaints}`.trim()).toBe('["public","blocked_address"]')
  expect(proxy.hits()).toBe(0)
  expect(leaks()).toBe(0)
})

test('without the address rule each spelling above does reach the secret, so the table can fail', async () => {
  await using careless = createSafeFetch({
    user_agent: 'test',
    lookup: resolver(names),
    is_public: () => true,
    ports: [port],
  })
  const before = leaks()
  for (const url of reachable) {
    const answer = await careless.fetch({ url: url.replace(':P', `:${port}`), signal })
    expect(Buffer.from(answer.body).toString(), url).toBe('the secret')
  }
  expect(leaks() - before).toBe(reachable.length)
})
