import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startGateway } from '../test/support/gateway.ts'
import { createTestRunner } from '../test/support/package-runner.ts'
import { median, type Row } from './support/measure.ts'

const server = join(import.meta.dirname, '../test/support/package-server.ts')
const agent = 'com.example/well'
const rounds = 9
const calls = 300
const params = { text: 'hello' }

/**
 * CPU time of a warm call of a stdio server: through the router of the gateway, and over HTTP, against the same call by
 * the client of the MCP SDK; without the server's own time. In microseconds a call. Without a sandbox, which costs at
 * the start alone.
 */
export async function run(): Promise<Row[]> {
  const runner = createTestRunner({ '@example/well': ['1.0.0'] })
  await using home = await startGateway({ DRAGOMAN_CHECK_OUTPUTS: 'off' }, { runner })
  const admin = await home.token('root', { scopes: ['admin', 'a2a:call'] })
  const send = (to: string, action: string, input: object) =>
    home.request('POST', '/a2a/message', { body: { to, action, params: input }, token: admin })
  const packages = [
    { registryType: 'npm', identifier: '@example/well', version: '1.0.0', transport: { type: 'stdio' } },
  ]
  const document = { name: agent, description: 'A well.', version: '1.0.0', packages }
  await send('svc.registry', 'import_entries', { lines: [JSON.stringify({ server: document })] })
  await send('svc.registry', 'approve_package', { agent })
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }))
  const principal = await home.gateway.authenticate(admin)
  const { signal } = new AbortController()
  const caller = { address: '127.0.0.1', via: [] }
  const envelope = { to: agent, action: 'echo', params }
  const works = {
    sdk: () => client.callTool({ name: 'echo', arguments: params }),
    router: () => home.gateway.dispatch(envelope, { principal, signal, client: caller }),
    http: () => send(agent, 'echo', params),
  }
  const times = { sdk: [] as number[], router: [] as number[], http: [] as number[] }
  for (let round = -2; round < rounds; round++) {
    for (const name of ['sdk', 'router', 'http'] as const) {
      const microseconds = await timeOf(works[name])
      if (round >= 0) times[name].push(microseconds)
    }
  }
  await client.close()
  const baseline = Math.round(median(times.sdk))
  return (['router', 'http'] as const).map((name) => {
    const value = Math.round(median(times[name]))
    return {
      name: `call of a package by ${name}, to the SDK's client`,
      value,
      unit: 'us',
      baseline,
      ratio: value / baseline,
    }
  })
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}
