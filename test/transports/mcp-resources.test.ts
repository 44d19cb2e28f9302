import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { hostedNames } from '../support/hosted.ts'
import { initialize, initialized, messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { openSocket } from '../support/socket.ts'

let home: TestGateway
let token: string
beforeAll(async () => {
  home = await startGateway()
  token = await home.token('ada')
  for (const package_name of ['com.example.staged', 'com.example.team/slash']) await publish(package_name)
  await goLive('com.example.team/slash')
})
afterAll(() => home[Symbol.asyncDispose]())

async function publish(package_name: string): Promise<void> {
  const body = {
    package_name,
    name: `The agent ${package_name}`,
    description: 'Published for a test.',
    endpoints: [{ protocol: 'a2a', url: 'https://example.com/a2a' }],
  }
  expect((await home.request('POST', '/api/agents/publish', { token, body })).status).toBe(201)
}

const goLive = (name: string) =>
  home.request('POST', `/api/agents/${encodeURIComponent(name)}/go-live`, { token })

interface Listed {
  readonly resources: { uri: string; name: string; title: string }[]
  readonly nextCursor?: string
}

async function ask(method: string, params: Record<string, unknown>, as?: string) {
  const name = (params.name ?? params.uri) as string | undefined
  const answer = await fetch(`${home.url}/mcp`, {
    method: 'POST',
    headers: { ...modernHeaders(method, name), ...(as && { Authorization: `Bearer ${as}` }) },
    body: JSON.stringify(modernRequest(1, method, params)),
  })
  return messageIn(await answer.text()) as {
    result: Record<string, unknown>
    error?: { code: number; message: string; data: { uri?: string; code?: string } }
  }
}

const clients = {
  'v2, 2026-07-28, HTTP': async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`)))
    return client
  },
  'v1, HTTP': async () => {
    const client = new OldClient({ name: 'test', version: '1' })
    await client.connect(new OldHttp(new URL(`${home.url}/mcp`)) as never)
    return client
  },
  'v1, WebSocket': async () => {
    const client = new OldClient({ name: 'test', version: '1' })
    await client.connect(new WebSocketClientTransport(new URL(`${home.url.replace('http', 'ws')}/mcp/ws`)))
    return client
  },
}

describe.each(Object.entries(clients))('the client %s', (era, open) => {
  test('lists agents as resources, reads one, completes its name, and takes a prompt', async () => {
    const client = await open()
    try {
      const { resources } = await client.listResources()
      expect(resources.map(({ name }) => name)).toContain('svc.utility.wiki')
      expect(resources.map(({ name }) => name)).not.toContain('com.example.staged')
      const { contents } = await client.readResource({ uri: 'agent://svc.utility.wiki' })
      const [content] = contents as { text: string; mimeType: string }[]
      expect(content?.mimeType).toBe('application/json')
      expect(JSON.parse(content?.text ?? '')).toMatchObject({
        package_name: 'svc.utility.wiki',
        card: { agent_id: 'custom.svc.utility.wiki' },
      })
      const { completion } = await client.complete({
        ref: { type: 'ref/resource', uri: 'agent://{package_name}' },
        argument: { name: 'package_name', value: 'svc.utility.' },
      })
      const values = hostedNames.filter((name) => name.startsWith('svc.utility.'))
      expect(completion).toMatchObject({ values, total: values.length, hasMore: false })
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual(['find_agent', 'use_agent'])
      const { messages } = await client.getPrompt({ name: 'find_agent', arguments: { task: 'Book a train' } })
      expect(JSON.stringify(messages)).toMatch(/Book a train.*search_agents.*do not instruct you/s)
      const code = era.startsWith('v2') ? -32602 : -32002
      await expect(client.readResource({ uri: 'agent://com.example.none' })).rejects.toMatchObject({
        code,
        data: { uri: 'agent://com.example.none' },
      })
      await expect(client.getPrompt({ name: 'find_agent', arguments: {} })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(/\/arguments\/task.*required/),
      })
    } finally {
      await client.close()
    }
  })
})

describe('agents as resources', () => {
  test('come page by page, each once, by name', async () => {
    const names: string[] = []
    await using many = await startGateway()
    const lines = Array.from({ length: 240 }, (_, index) =>
      JSON.stringify({
        packageName: `agent-${index}`,
        name: `Agent ${String(index).padStart(3, '0')}`,
        description: 'One of many.',
        url: 'https://example.com/',
        runtime: 'node',
      }),
    )
    const admin = await many.token('root', { scopes: ['admin'] })
    const imported = await many.request('POST', '/a2a/message', {
      token: admin,
      body: { to: 'svc.registry', action: 'import_entries', params: { lines } },
    })
    expect(imported.json).toMatchObject({ created: 240 })
    let cursor: string | undefined
    let pages = 0
    do {
      const request = modernRequest(1, 'resources/list', cursor === undefined ? {} : { cursor })
      const answer = await many.request('POST', '/mcp', {
        headers: modernHeaders('resources/list'),
        body: request,
      })
      const { resources, nextCursor } = answer.json.result as Listed
      names.push(...resources.map(({ title }) => title))
      cursor = nextCursor
      pages += 1
    } while (cursor !== undefined)
    expect(pages).toBe(3)
    expect(names).toHaveLength(new Set(names).size)
    expect(names.filter((name) => /^Agent \d/.test(name))).toEqual(
      Array.from({ length: 240 }, (_, index) => `Agent ${String(index).padStart(3, '0')}`),
    )
  })

  test.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    '%s refuses a cursor that it never gave',
    async (method) => {
      expect((await ask(method, { cursor: 'bm8=' })).error?.code).toBe(-32602)
    },
  )

  test('are read under either spelling of a slash, the listed one among them', async () => {
    const { resources } = (await ask('resources/list', {})).result as unknown as Listed
    const listed = resources.find(({ name }) => name === 'com.example.team/slash')
    expect(listed?.uri).toBe('agent://com.example.team%2Fslash')
    for (const uri of ['agent://com.example.team%2Fslash', 'agent://com.example.team/slash']) {
      const { contents } = (await ask('resources/read', { uri })).result as {
        contents: { uri: string; text: string }[]
      }
      expect(contents[0]?.uri).toBe(uri)
      expect(JSON.parse(contents[0]?.text ?? '').package_name).toBe('com.example.team/slash')
    }
  })

  test('in STAGE are there for their owner alone', async () => {
    const uri = 'agent://com.example.staged'
    expect((await ask('resources/read', { uri })).error).toMatchObject({ code: -32602, data: { uri } })
    expect((await ask('resources/read', { uri }, await home.token('eve'))).error?.code).toBe(-32602)
    expect((await ask('resources/read', { uri }, token)).result).toHaveProperty('contents')
    const { completion } = (
      await ask('completion/complete', {
        ref: { type: 'ref/prompt', name: 'use_agent' },
        argument: { name: 'package_name', value: 'com.example.' },
      })
    ).result as { completion: { values: string[] } }
    expect(completion.values).toEqual(['com.example.team/slash'])
  })

  test('of a listed server is unknown here, and the error says how it is read', async () => {
    const { error } = await ask('resources/read', { uri: 'demo://notes/1' })
    expect(error).toMatchObject({ code: -32602, data: { uri: 'demo://notes/1' } })
    expect(error?.message).toContain('call_agent with the action mcp_request')
  })

  test('the nearest name is suggested', async () => {
    const { error } = await ask('resources/read', { uri: 'agent://svc.utility.wikki' })
    expect(error?.message).toContain('svc.utility.wiki')
    expect(Object.keys(error?.data ?? {})).toEqual(['uri'])
  })
})

describe('that agents come and go', () => {
  const next = (peer: Awaited<ReturnType<typeof openSocket>>, method: string) =>
    new Promise<Record<string, never>>((resolve) => {
      const receive = (data: unknown) => {
        const message = JSON.parse(String(data))
        if (message.method !== method) return
        peer.socket.off('message', receive)
        resolve(message)
      }
      peer.socket.on('message', receive)
    })
  const changed = 'notifications/resources/list_changed'

  test('is sent to a subscriber of 2026-07-28, under its id, on a socket and over HTTP', async () => {
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
    const listen = modernRequest('sub', 'subscriptions/listen', {
      notifications: { resourcesListChanged: true, toolsListChanged: true },
    })
    const acknowledged = next(peer, 'notifications/subscriptions/acknowledged')
    peer.send(listen)
    // Only notifications that are really sent are promised.
    expect((await acknowledged).params).toMatchObject({ notifications: { resourcesListChanged: true } })
    expect((await acknowledged).params).not.toHaveProperty('notifications.toolsListChanged')

    const controller = new AbortController()
    const stream = await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: modernHeaders('subscriptions/listen'),
      body: JSON.stringify(listen),
      signal: controller.signal,
    })
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    const notified = next(peer, changed)
    await publish('com.example.coming')
    await goLive('com.example.coming')
    expect((await notified).params).toMatchObject({
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' },
    })
    let received = ''
    while (!received.includes(changed)) received += (await reader?.read())?.value ?? ''
    controller.abort()
  })

  test.each([true, false])('is sent in both eras on one connection, whichever came first', async (first) => {
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
    const steps = [
      async () => {
        const acknowledged = next(peer, 'notifications/subscriptions/acknowledged')
        const notifications = { resourcesListChanged: true }
        peer.send(modernRequest('sub', 'subscriptions/listen', { notifications }))
        await acknowledged
      },
      async () => {
        peer.send(initialize(1))
        expect(await peer.answer(1)).toHaveProperty('result.serverInfo')
        peer.send(initialized)
        peer.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
        await peer.answer(2)
      },
    ]
    for (const step of first ? steps : steps.toReversed()) await step()
    const received: boolean[] = []
    const both = new Promise<void>((resolve) =>
      peer.socket.on('message', (data) => {
        const { method, params } = JSON.parse(String(data))
        if (method !== changed) return
        received.push(params?._meta !== undefined)
        if (new Set(received).size === 2) resolve()
      }),
    )
    const name = `com.example.both-${first}`
    await publish(name)
    await goLive(name)
    await both
  })

  test('ends for a subscriber with a result when the gateway shuts down, and does not hold it up', async () => {
    const short = await startGateway()
    const listen = modernRequest('sub', 'subscriptions/listen', {
      notifications: { resourcesListChanged: true },
    })
    const stream = await fetch(`${short.url}/mcp`, {
      method: 'POST',
      headers: modernHeaders('subscriptions/listen'),
      body: JSON.stringify(listen),
    })
    const text = stream.text()
    await short[Symbol.asyncDispose]()
    expect(messageIn(await text)).toMatchObject({ id: 'sub', result: { resultType: 'complete' } })
  })

  test('is sent to a client of the 2025 era on a connection, as promised', async () => {
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
    peer.send(initialize(1))
    expect((await peer.answer(1)).result).toMatchObject({
      capabilities: { resources: { listChanged: true } },
    })
    peer.send(initialized)
    peer.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await peer.answer(2)
    const notified = next(peer, changed)
    await publish('com.example.going')
    await goLive('com.example.going')
    await notified

    const answer = await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify(initialize(1)),
    })
    const { result } = messageIn(await answer.text()) as { result: { capabilities: object } }
    expect(result.capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {} })
    expect(result.capabilities).not.toHaveProperty('resources.listChanged')
  })
})
