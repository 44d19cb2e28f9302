import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import type { Step } from '../../schemas/playground.ts'
import { temporaryFolder } from '../support/command.ts'
import { eventsOf, take } from '../support/events.ts'
import { formats, runExported } from '../support/exported.ts'
import { startGateway } from '../support/gateway.ts'
import { html, replay } from '../support/replay.ts'
import { openSocket } from '../support/socket.ts'

const folder = await temporaryFolder()
const outside = await replay({
  'GET /': html('<html lang="en"><title>On rivers</title><body><p>Water flows downhill.</p></body></html>'),
})
const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: outside.url })
afterAll(() => folder[Symbol.asyncDispose]())
afterAll(() => outside[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

const base = '/api/playground/session'
const withToken = (token: string | undefined) => (token === undefined ? {} : { token })

async function createSession(gateway = home, token?: string): Promise<string> {
  const { status, json } = await gateway.request('POST', base, withToken(token))
  expect(status).toBe(201)
  return json.id
}

async function search(session: string, query = 'wiki', gateway = home) {
  const body = { agent: 'svc.registry', capability: 'search', input: { query } }
  return await gateway.request('POST', `${base}/${session}/execute`, { body })
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
function gist(answer: any): unknown {
  if (answer.agents) return answer.agents.map((first: { package_name: string }) => first.package_name)
  return answer.code ?? answer.content ?? answer.markdown ?? answer
}

test('a search of a session may ask for the brief form', async () => {
  const body = { query: 'wiki', detail: 'brief' }
  const found = await home.request('POST', `${base}/${await createSession()}/discover`, { body })
  expect(found.status, found.text).toBe(200)
  expect(found.json.agents[0]).not.toHaveProperty('id')
})

describe('the way from finding to calling', () => {
  test.each([
    ['an anonymous caller', false],
    ['somebody with a token', true],
  ])(
    'is walked by %s, and its export runs unchanged',
    async (_, signed) => {
      const token = signed ? await home.token('ada') : undefined
      const session = await createSession(home, token)
      const post = (path: string, body: object) =>
        home.request('POST', `${base}/${session}/${path}`, { body, ...withToken(token) })

      const found = await post('discover', { query: 'read a web page', limit: 3 })
      expect(found.json.agents[0].package_name).toBe('svc.utility.reader')
      const agent: string = found.json.agents[0].package_name
      const read = { agent, capability: 'extract_content' }
      const page = await post('execute', { ...read, input: { url: `${outside.url}/?it's=$(HOME)` } })
      expect(JSON.stringify(page.json.output)).toContain('Water flows downhill.')
      expect((await post('execute', { ...read, input: { url: 'http://127.0.0.1:1/' } })).json.code).toBe(
        'blocked_address',
      )
      await post('execute', { agent: 'svc.registry', capability: 'search_agents', input: { query: 'price' } })

      const history = await home.request('GET', `${base}/${session}`, withToken(token))
      const steps: Step[] = history.json.steps
      expect(steps.map(({ number, kind, failure }) => [number, kind, failure?.code])).toEqual([
        [1, 'discover', undefined],
        [2, 'execute', undefined],
        [3, 'execute', 'blocked_address'],
        [4, 'execute', undefined],
      ])
      const expected = steps.map(({ output, failure }) => gist(failure ?? output))
      for (const format of formats) {
        const exported = await home.request(
          'GET',
          `${base}/${session}/export?format=${format}`,
          withToken(token),
        )
        expect(exported.status).toBe(200)
        const answers = await runExported(format, exported.text, folder.path, {
          ...(format === 'mcp' && { DRAGOMAN_DATA: home.data, DRAGOMAN_ALLOW_ORIGINS: outside.url }),
          ...(token !== undefined && { DRAGOMAN_TOKEN: token }),
        })
        expect({ format, answers: answers.map(gist) }).toEqual({ format, answers: expected })
      }
    },
    60_000,
  )

  test('an export with a token is of tools by name, and says where it needs one', async () => {
    const token = await home.token('ada')
    const session = await createSession(home, token)
    const body = { agent: 'custom.svc.utility.reader', capability: 'extract_content', input: { url: 'x' } }
    await home.request('POST', `${base}/${session}/execute`, { body, token })
    const mcp = await home.request('GET', `${base}/${session}/export?format=mcp`, { token })
    expect(JSON.parse(mcp.text.trim().split('\n').at(-1) ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'reader_extract_content', arguments: { url: 'x' } },
    })
    for (const format of ['curl', 'typescript'] as const) {
      const { text } = await home.request('GET', `${base}/${session}/export?format=${format}`, { token })
      await expect(runExported(format, text, folder.path, {})).rejects.toThrow('DRAGOMAN_TOKEN')
    }
  })

  test('the input of a hostile caller is only sent again', async () => {
    await using empty = await temporaryFolder()
    const session = await createSession()
    const evil = [
      "'; touch pwned; '",
      '$(touch pwned)`touch pwned`',
      '\n");require("fs").writeFileSync("pwned","")//',
      `\u2028*/ \${"pwned"} \\`,
    ]
    for (const text of evil) {
      const body = { agent: 'svc.registry', capability: 'search', input: { query: text, [text]: [text] } }
      await home.request('POST', `${base}/${session}/execute`, { body })
      await home.request('POST', `${base}/${session}/execute`, { body: { ...body, capability: text } })
    }
    const { json } = await home.request('GET', `${base}/${session}`)
    const expected = json.steps.map(({ failure }: Step) => failure?.detail)
    expect(expected).toHaveLength(8)
    for (const format of formats) {
      const { text } = await home.request('GET', `${base}/${session}/export?format=${format}`)
      const mcp = { DRAGOMAN_DATA: home.data }
      const answers = await runExported(format, text, empty.path, format === 'mcp' ? mcp : {})
      expect(answers.map(({ detail }) => detail)).toEqual(expected)
      expect((await readdir(empty.path)).filter((name) => !name.startsWith('exported'))).toEqual([])
    }
  }, 30_000)

  test('a file has a type and a name; other transports return both beside the text', async () => {
    const session = await createSession()
    const { headers, text } = await home.request('GET', `${base}/${session}/export?format=typescript`)
    expect(headers.get('content-type')).toBe('application/typescript; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="playground.ts"')
    expect(headers.get('cache-control')).toBe('no-store')
    const params = { session, format: 'typescript' }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'playground.export_session', params }
    const { json } = await home.request('POST', '/rpc', { body: rpc })
    const file = {
      format: 'typescript',
      filename: 'playground.ts',
      media_type: 'application/typescript',
      text,
    }
    expect(json.result).toEqual(file)
  })

  test('an anonymous session gets a reason and a hint for calls that it may not make', async () => {
    const session = await createSession()
    const body = { agent: 'svc.registry', capability: 'publish', input: {} }
    const { status, json } = await home.request('POST', `${base}/${session}/execute`, { body })
    expect([status, json.code, json.hint]).toEqual([
      403,
      'forbidden',
      'Send Authorization: Bearer TOKEN to call with your own rights.',
    ])
  })
})

describe('a session', () => {
  test('is one for all gateways on a data folder, and outlives them', async () => {
    await using data = await temporaryFolder()
    const settings = { DRAGOMAN_DATA: data.path }
    let session: string
    {
      await using first = await startGateway(settings)
      await using second = await startGateway(settings)
      session = await createSession(first)
      expect((await search(session, 'a', first)).json.step).toBe(1)
      expect((await search(session, 'b', second)).json.step).toBe(2)
      const [firstSession, other] = await Promise.all(
        [first, second].map((gateway) => gateway.request('GET', `${base}/${session}`)),
      )
      expect(firstSession?.json).toEqual(other?.json)
    }
    await using third = await startGateway(settings)
    expect((await third.request('GET', `${base}/${session}`)).json.steps).toHaveLength(2)
  }, 30_000)

  test('ends with its hour, for every gateway', async () => {
    let now = Date.now()
    await using gateway = await startGateway({}, { clock: () => now, sessions: { poll_ms: 5 } })
    const session = await createSession(gateway)
    const watched = await watch(session, {}, gateway)
    await take(watched.events, 1)
    now += 3_600_000
    expect(await take(watched.events, 2)).toMatchObject([{ event: 'result', data: { ended: 'expired' } }])
    expect((await gateway.request('GET', `${base}/${session}`)).status).toBe(404)
    expect((await watch(session, {}, gateway)).answer.status).toBe(404)
  })

  test('is deleted at once, with everything that it stored', async () => {
    const session = await createSession()
    await search(session)
    const deleted = await home.request('DELETE', `${base}/${session}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/export?format=curl'],
      ['DELETE', ''],
    ] as const) {
      expect((await home.request(method, `${base}/${session}${path}`)).status).toBe(404)
    }
    expect((await search(session)).status).toBe(404)
  })

  test('created with a token cannot be read, watched or deleted by others', async () => {
    const session = await createSession(home, await home.token('ada'))
    const eve = { token: await home.token('eve') }
    for (const options of [{}, eve, { ...eve, headers: { Accept: 'text/event-stream' } }]) {
      expect((await home.request('GET', `${base}/${session}`, options)).status).toBe(404)
      expect((await home.request('DELETE', `${base}/${session}`, options)).status).toBe(404)
    }
  })
})

async function watch(session: string, headers: Record<string, string> = {}, gateway = home) {
  const answer = await fetch(`${gateway.url}${base}/${session}`, {
    headers: { Accept: 'text/event-stream', ...headers },
  })
  return { answer, events: eventsOf(answer) }
}

describe('watching a session over HTTP', () => {
  test('receives past steps and each new one, from any gateway, until it is deleted', async () => {
    await using other = await startGateway({ DRAGOMAN_DATA: home.data })
    const session = await createSession()
    await search(session)
    const { answer, events } = await watch(session)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(await take(events, 2)).toMatchObject([
      { event: 'progress', data: { progress: 1 } },
      { event: 'part', id: '1', data: { number: 1, kind: 'execute' } },
    ])
    await search(session, 'b')
    await search(session, 'c', other)
    expect((await take(events, 2)).map(({ id }) => id)).toEqual(['2', '3'])
    await home.request('DELETE', `${base}/${session}`)
    expect(await take(events, 2)).toMatchObject([
      { event: 'result', data: { id: session, ended: 'deleted' } },
    ])
  }, 30_000)

  test('goes on behind the event that the caller had last', async () => {
    const session = await createSession()
    for (const query of ['a', 'b', 'c']) await search(session, query)
    const { events } = await watch(session, { 'Last-Event-ID': '2' })
    expect((await take(events, 2)).map(({ id }) => id)).toEqual([undefined, '3'])
    await events.return(undefined)
    const { answer } = await watch(session, { 'Last-Event-ID': 'junk' })
    expect(answer.status).toBe(400)
  })

  test('ends when the caller disconnects, which frees its slot', async () => {
    await using gateway = await startGateway({}, { sessions: { limits: { watchers: 1 } } })
    const session = await createSession(gateway)
    await search(session, 'x', gateway)
    const begin = async () => {
      const { events } = await watch(session, {}, gateway)
      const [, second] = await take(events, 2)
      return { events, outcome: second?.data.code ?? second?.event }
    }
    const first = await begin()
    expect([first.outcome, (await begin()).outcome]).toEqual(['part', 'rate_limited'])
    await first.events.return(undefined)
    let again = await begin()
    while (again.outcome !== 'part') again = await begin()
    await again.events.return(undefined)
  })

  test('by a client that never reads delays no other', async () => {
    const session = await createSession()
    const peer = connect(Number(new URL(home.url).port), '127.0.0.1')
    await once(peer, 'connect')
    peer.pause()
    peer.write(`GET ${base}/${session} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`)
    const steps = await Promise.all(Array.from({ length: 20 }, () => search(session)))
    expect(steps.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    peer.destroy()
  })

  test('works by envelope too, over HTTP and WebSocket, and is refused by transports that do not stream', async () => {
    const session = await createSession()
    await search(session)
    const body = { to: 'svc.playground', action: 'watch_session', params: { session } }
    await using peer = await openSocket(`${home.url}/a2a/message`, ['envelope'])
    const frames: object[] = []
    const progressed = Promise.withResolvers<void>()
    peer.socket.on('message', (data) => {
      frames.push(JSON.parse(String(data)))
      if (frames.length === 2) progressed.resolve()
    })
    peer.send({ ...body, message_id: 'w' })
    await progressed.promise
    expect(frames).toMatchObject([
      { message_id: 'w', update: { progress: 1 } },
      { message_id: 'w', update: { part: { number: 1 } } },
    ])
    expect((await home.request('POST', '/a2a/message', { body })).json).toMatchObject({
      code: 'not_callable',
    })
    const answer = await fetch(`${home.url}/a2a/message`, {
      method: 'POST',
      headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...body, message_id: 'w' }),
    })
    expect(answer.headers.get('x-message-id')).toBe('w')
    const events = eventsOf(answer)
    expect((await take(events, 2)).map(({ event }) => event)).toEqual(['progress', 'part'])
    await events.return(undefined)
  })
})
