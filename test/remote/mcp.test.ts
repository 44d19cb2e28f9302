import { describe, expect, test } from 'vitest'
import { rejection } from '../net/support.ts'
import { agentAt, collect, eventually } from '../support/mcp-agent.ts'
import {
  type McpServer,
  startModernServer,
  startSessionServer,
  startSseServer,
  type Toolbox,
} from '../support/mcp-servers.ts'

const servers: Record<string, (toolbox?: Toolbox) => Promise<McpServer>> = {
  'v2, 2026-07-28': (toolbox) => startModernServer({ ...toolbox, legacy: 'reject' }),
  'v1, sessions of 2025-11-25': startSessionServer,
  'v1, HTTP+SSE of 2024-11-05': startSseServer,
}

describe.each(Object.entries(servers))('the official server of %s', (_, start) => {
  test('is called, listed and probed', async () => {
    await using server = await start()
    await using remote = agentAt(server.url)
    await remote.agent.probe(remote.call())
    expect(await remote.ask('echo', { deep: [1, { two: 'zwei' }] })).toEqual({ deep: [1, { two: 'zwei' }] })
    const capabilities = await remote.agent.describe?.(remote.call())
    expect(capabilities).toHaveLength(5)
    expect(capabilities?.[0]).toEqual({
      name: 'echo',
      description: 'Answers its arguments.',
      input_schema: { type: 'object' },
      read_only: true,
      annotations: { readOnlyHint: true },
    })
  })

  test('reports its progress', async () => {
    await using server = await start()
    await using remote = agentAt(server.url)
    const { updates, emit } = collect()
    expect(await remote.ask('work', {}, { emit })).toEqual({ text: 'done' })
    expect(updates.at(-1)).toEqual({ progress: 2, total: 2, message: 'whole' })
  })

  test('fails with its own error text', async () => {
    await using server = await start()
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('fail'))).toMatchObject({
      code: 'upstream_failed',
      message: 'The agent says: The moon is full.',
    })
    expect(await rejection(remote.ask('nothing'))).toMatchObject({ code: 'unknown_action' })
  })

  test('receives a cancellation when its caller disconnects', async () => {
    await using server = await start()
    await using remote = agentAt(server.url)
    await remote.ask('echo')
    const controller = new AbortController()
    const call = rejection(
      remote.ask('hang', {}, { signal: controller.signal, headers: { 'x-call': 'mine' } }),
    )
    await eventually(() => server.seen.some(({ params }) => params?.name === 'hang')).toBe(true)
    controller.abort()
    expect(await call).toMatchObject({ code: 'cancelled' })
    await eventually(server.stopped).toBe(1)
    for (const { headers, params } of server.seen.filter(({ rpc }) => rpc === 'notifications/cancelled')) {
      expect(headers['x-call']).toBe('mine')
      expect(params).toMatchObject({ reason: expect.not.stringContaining('Error: ') })
    }
    expect(await remote.ask('echo', { still: 'here' })).toEqual({ still: 'here' })
  })

  test('sees the headers of each call on its own requests alone', async () => {
    await using server = await start()
    await using remote = agentAt(server.url)
    const callers = Array.from({ length: 40 }, (_, turn) => ['ada', 'bob'][turn % 2] ?? '')
    await Promise.all(
      callers.map((caller, turn) =>
        remote.ask('echo', { caller, turn }, { caller, headers: { 'x-call': `${caller} ${turn}` } }),
      ),
    )
    const calls = server.seen.filter(({ rpc }) => rpc === 'tools/call')
    expect(calls).toHaveLength(40)
    for (const { params, headers } of calls) {
      expect(headers['x-call']).toBe(`${params.arguments.caller} ${params.arguments.turn}`)
    }
    expect(server.seen.every(({ headers }) => headers['x-call'] !== undefined)).toBe(true)
    const owners = new Map<string, Set<string | undefined>>()
    for (const { headers } of server.seen) {
      const session = headers['mcp-session-id']
      if (typeof session !== 'string') continue
      const callers = owners.get(session) ?? new Set()
      owners.set(session, callers.add(String(headers['x-call']).split(' ')[0]))
    }
    for (const callers of owners.values()) expect(callers.size).toBe(1)
  })
})
