import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { PackageProcess } from '../src/runner/runner.ts'
import { startGateway } from '../test/support/gateway.ts'
import { startPackageRegistry } from '../test/support/package-registry.ts'
import { createTestRunner } from '../test/support/package-runner.ts'
import { puppet } from '../test/support/puppet.ts'
import { lacking, openTestRunner } from '../test/support/runner.ts'
import { median, type Row } from './support/measure.ts'

const server = join(import.meta.dirname, '../test/support/package-server.ts')
const agent = 'com.example/well'
const rounds = 9
/** Rounds before: V8 compiles the calls of the gateway for some ten thousand of them. */
const warmRounds = 6
const calls = 2_000
const params = { text: 'hello' }

/** Warm calls of a package, and its cold start, each beside the same without the gateway. */
export async function run(): Promise<Row[]> {
  return [...(await warmCalls()), ...(await coldStarts())]
}

/**
 * CPU time of a warm call of a stdio server: through the router of the gateway, and over HTTP, against the same call by
 * the client of the MCP SDK; without the server's own time. In microseconds a call. Without a sandbox, which costs at
 * the start alone.
 */
async function warmCalls(): Promise<Row[]> {
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
  for (let round = -warmRounds; round < rounds; round++) {
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

const coldRounds = 5

/** Milliseconds from the start of an installed package to its first answer: in the sandbox, beside npx with a warm cache. */
async function coldStarts(): Promise<Row[]> {
  if (lacking) return []
  await using registry = await startPackageRegistry()
  registry.publish(puppet)
  await using world = await openTestRunner(registry)
  const cache = await mkdtemp(join(tmpdir(), 'dragoman-npx-'))
  const times = { npx: [] as number[], sandbox: [] as number[] }
  for (let round = -1; round < coldRounds; round++) {
    const [npx, sandbox] = [
      await timeToAnswer(() => startByNpx(registry.npm, cache)),
      await timeToAnswer(() => world.run({ name: 'puppet' })),
    ]
    if (round >= 0) times.npx.push(npx)
    if (round >= 0) times.sandbox.push(sandbox)
  }
  await rm(cache, { recursive: true, force: true })
  const [value, baseline] = [Math.round(median(times.sandbox)), Math.round(median(times.npx))]
  return [
    {
      name: 'cold start in the sandbox, resolved anew, to npx',
      value,
      unit: 'ms',
      baseline,
      ratio: value / baseline,
    },
  ]
}

type Started = Pick<PackageProcess, 'stdin' | 'stdout'> & AsyncDisposable

async function timeToAnswer(start: () => Promise<Started>): Promise<number> {
  const begun = performance.now()
  await using process = await start()
  process.stdin.write('{"code": "return 1"}\n')
  await once(process.stdout, 'data')
  return performance.now() - begun
}

async function startByNpx(registry: string, cache: string): Promise<Started> {
  const env = { ...process.env, npm_config_cache: cache, npm_config_registry: registry }
  const child = spawn('npx', ['-y', 'puppet@1.0.0'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const { stdin, stdout } = child
  return {
    stdin,
    stdout,
    async [Symbol.asyncDispose]() {
      stdin.end()
      child.kill()
      await once(child, 'exit')
    },
  }
}
