import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { modernRequest } from '../support/mcp.ts'
import { run } from '../support/processes.ts'
import { serve, stdio } from '../support/serve.ts'

const list = `${JSON.stringify(modernRequest(1, 'tools/list', {}))}\n`

/** The names of the tools in the answer to `list`. */
function toolsIn(line: string): string[] {
  const { result } = JSON.parse(line) as { result: { tools: { name: string }[] } }
  return result.tools.map((tool) => tool.name)
}

test('MCP over stdio exits with 0 at the end of its input, after printing only its answers', async () => {
  await using folder = await temporaryFolder()
  await using peer = stdio(folder.path)
  peer.process.stdin?.write(list)
  const [line] = await peer.printed(/^.*"id":1.*$/m)
  expect(toolsIn(line)).toContain('search_agents')
  const started = performance.now()
  peer.process.stdin?.end()
  const { code, stdout, stderr } = await peer.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trim().split('\n')).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(3000)
})

test('MCP over stdio whose input ends before it said anything ends too', async () => {
  await using folder = await temporaryFolder()
  await using peer = stdio(folder.path)
  peer.process.stdin?.end()
  expect(await peer.ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('the configuration that serve prints starts, from any folder, a host’s MCP server over the same data', async () => {
  await using folder = await temporaryFolder()
  await using elsewhere = await temporaryFolder()
  await using server = await serve(folder.path)
  const [, text = ''] = await server.printed(/MCP client configuration:\n(\{\n[\s\S]*?\n\})\n/)
  await server.printed(/install --host claude-code/)
  const { command, args, env } = JSON.parse(text).mcpServers.dragoman
  await using peer = run(command, args, env, { cwd: elsewhere.path })
  peer.process.stdin?.write(list)
  const [line] = await peer.printed(/^.*"id":1.*$/m)
  expect(toolsIn(line)).toEqual(
    expect.arrayContaining(['search_agents', 'resolve_package', 'call_agent', 'wiki_get_summary']),
  )
  peer.process.stdin?.end()
  expect((await peer.ended).code).toBe(0)
})

test('a gateway for other machines prints the configuration that works there: its address', async () => {
  await using folder = await temporaryFolder()
  const base = 'https://registry.example.com'
  await using server = await serve(folder.path, { DRAGOMAN_BASE_URL: base })
  const [, text = ''] = await server.printed(/MCP client configuration:\n(\{\n[\s\S]*?\n\})\n/)
  expect(JSON.parse(text)).toEqual({ mcpServers: { dragoman: { type: 'http', url: `${base}/mcp` } } })
  await server.printed(/claude mcp add --transport http dragoman https:\/\/registry\.example\.com\/mcp\n/)
})
