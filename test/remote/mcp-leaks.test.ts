import { describe, expect, test } from 'vitest'
import { agentAt, eventually } from '../support/mcp-agent.ts'
import {
  type McpServer,
  startHostileServer,
  startModernServer,
  startSessionServer,
  startSseServer,
} from '../support/mcp-servers.ts'

const handles = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout/.test(kind)).length

const servers: Record<string, () => Promise<McpServer>> = {
  'v2, 2026-07-28': startModernServer,
  'v1, sessions of 2025-11-25': startSessionServer,
  'v1, HTTP+SSE of 2024-11-05': startSseServer,
  'that refuses everything': () => startHostileServer((_, response) => response.writeHead(503).end()),
}

describe.each(Object.entries(servers))('200 calls to a server %s', (_, start) => {
  test('that are cancelled, fail or are refused leave no open resources', async () => {
    await using server = await start()
    const before = handles()
    {
      await using remote = agentAt(server.url)
      for (let round = 0; round < 10; round++) {
        await Promise.allSettled(
          Array.from({ length: 20 }, (__, turn) => {
            const controller = new AbortController()
            const { signal } = controller
            const caller = `caller ${turn % 5}`
            if (turn % 4 === 0) return remote.ask('fail', {}, { caller, signal })
            if (turn % 4 === 1) return remote.ask('none', {}, { caller, signal })
            const call = remote.ask('hang', {}, { caller, signal })
            if (turn % 4 === 2) controller.abort()
            else setTimeout(() => controller.abort(), turn)
            return call
          }),
        )
      }
      // One session per caller and idle connections remain.
      expect(server.sessions()).toBeLessThanOrEqual(5)
    }
    await eventually(server.sessions).toBe(0)
    await eventually(server.sockets).toBe(0)
    await eventually(handles).toBeLessThanOrEqual(before)
  })
})
