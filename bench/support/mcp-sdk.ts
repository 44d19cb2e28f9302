// The official MCP SDK as in its guide: a server for each HTTP request, with one tool that always gives the
// same answer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { announce } from './measure.ts'

const { content, structuredContent } = JSON.parse(process.env.BENCH_ANSWER ?? '{}')
const inputSchema = z.object({ agent: z.string(), detail: z.string() })
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1' })
  server.registerTool('resolve_package', { inputSchema }, () => ({ content, structuredContent }))
  return server
})
const answer = toNodeHandler(handler)
const server = createServer((request, response) => void answer(request as never, response))
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
