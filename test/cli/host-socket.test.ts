import { readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command, run, temporaryFolder } from '../support/command.ts'
import { serveEnvelopes } from '../support/envelope-agent.ts'
import { modernRequest } from '../support/mcp.ts'
import { eventually } from '../support/mcp-agent.ts'
import { serve, stdio } from '../support/serve.ts'

const line = (message: object) => `${JSON.stringify(message)}\n`
const search = (id: number) =>
  line(modernRequest(id, 'tools/call', { name: 'search_agents', arguments: { query: 'encyclopedia' } }))

const slow = { agent: 'com.example.slow', action: 'work', params: {} }

/** Lists an agent that takes envelopes at an address. */
async function publish(folder: string, package_name: string, url: string): Promise<void> {
  const file = join(folder, 'agent.json')
  const endpoints = [{ protocol: 'envelope', url }]
  await writeFile(file, JSON.stringify({ package_name, name: 'An agent', description: 'Works.', endpoints }))
  const { code, stderr } = await run(['publish', file, '--live'], { DRAGOMAN_DATA: folder })
  expect(code, stderr).toBe(0)
}

/** Resident memory of a process in megabytes. */
async function residentMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

describe.skipIf(process.platform === 'win32')(
  'a host beside a gateway that runs over its data folder',
  () => {
    test('is answered by the gateway, through a socket of its user alone, and holds no index', async () => {
      await using folder = await temporaryFolder()
      await using home = await serve(folder.path)
      expect((await stat(join(folder.path, 'host.sock'))).mode & 0o777).toBe(0o600)
      await using host = stdio(folder.path)
      host.process.stdin?.write(search(1))
      const [, answer = ''] = await host.printed(/^(\{.*\})\n/)
      expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { structuredContent: { total: 1 } } })
      if (process.platform === 'linux') expect(await residentMegabytes(host.process.pid)).toBeLessThan(130)
      // What models may not do stays refused.
      const publish = {
        name: 'call_agent',
        arguments: { agent: 'svc.registry', action: 'create_key', params: {} },
      }
      host.process.stdin?.write(line(modernRequest(2, 'tools/call', publish)))
      const typed = `node ${command} apikey create`
      expect((await host.printed(/"id":2,.*forbidden.*/))[0]).toContain(typed)
      home.process.kill('SIGTERM')
      await home.ended
      // Then the host's own process serves it.
      host.process.stdin?.end(search(3))
      await host.printed(/"id":3,/)
      const { code, stderr } = await host.ended
      expect([code, stderr]).toEqual([0, expect.stringContaining('has ended')])
    }, 60_000)

    test('goes on with its session at the next gateway, and is told of a call that got no answer', async () => {
      await using folder = await temporaryFolder()
      await using agent = await serveEnvelopes(() => {})
      const origins = { DRAGOMAN_ALLOW_ORIGINS: agent.origin }
      await using first = await serve(folder.path, origins)
      await publish(folder.path, 'com.example.slow', agent.url)
      await using host = stdio(folder.path)
      const say = (method: string, params: object, id?: number) =>
        host.process.stdin?.write(line({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) }))
      const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      say('initialize', { protocolVersion: '2025-06-18', ...client }, 1)
      await host.printed(/"id":1,/)
      say('notifications/initialized', {})
      say('tools/call', { name: 'call_agent', arguments: slow }, 2)
      await eventually(() => agent.received.length).toBe(1)
      first.process.kill('SIGKILL')
      await host.printed(/"id":2,.*ended before it answered/)
      await using _second = await serve(folder.path, origins)
      say('tools/call', { name: 'search_agents', arguments: { query: 'encyclopedia' } }, 3)
      await host.printed(/"id":3,.*svc\.utility\.wiki/)
      // The second gateway listens for this host: a change reaches it.
      await publish(folder.path, 'com.example.new', agent.url)
      await host.printed(/list_changed/)
      host.process.stdin?.end()
      const { code, stdout } = await host.ended
      expect(code).toBe(0)
      expect(stdout.match(/"protocolVersion"/g)).toHaveLength(1)
    }, 60_000)

    test('whose call takes longer than the gateway waits while it stops is told so', async () => {
      await using folder = await temporaryFolder()
      await using agent = await serveEnvelopes(() => {})
      await using home = await serve(folder.path, { DRAGOMAN_ALLOW_ORIGINS: agent.origin })
      await publish(folder.path, 'com.example.slow', agent.url)
      await using host = stdio(folder.path)
      host.process.stdin?.write(line(modernRequest(1, 'tools/call', { name: 'call_agent', arguments: slow })))
      await eventually(() => agent.received.length).toBe(1)
      home.process.kill('SIGTERM')
      await host.printed(/"id":1,.*shutting down/)
      expect((await home.ended).code).toBe(0)
    }, 60_000)

    test('of another version, or that sends no greeting, is not served', async () => {
      await using folder = await temporaryFolder()
      await using _home = await serve(folder.path)
      for (const greeting of [
        '{"version":"0.0.0","store":""}\n',
        'GET / HTTP/1.1\n',
        `${'x'.repeat(20_000)}\n`,
      ]) {
        const socket = connect(join(folder.path, 'host.sock'))
        socket.write(greeting)
        const text = (await socket.toArray()).join('')
        expect(text).toBe('{"is_served":false}\n')
      }
    }, 30_000)

    test('that has ended without a trace is not waited for', async () => {
      await using folder = await temporaryFolder()
      {
        await using home = await serve(folder.path)
        home.process.kill('SIGKILL')
        await home.ended
      }
      await using alone = stdio(folder.path)
      alone.process.stdin?.end(search(1))
      await alone.printed(/"id":1,/)
      await using _again = await serve(folder.path)
      await using host = stdio(folder.path)
      host.process.stdin?.end(search(2))
      await host.printed(/"id":2,/)
      expect((await host.ended).code).toBe(0)
    }, 60_000)
  },
)
