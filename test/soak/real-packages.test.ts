import { describe, expect, test } from 'vitest'
import { createSemaphore } from '../../src/common/semaphore.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { startGateway } from '../support/gateway.ts'
import { configuredRegistries, type Trial, tryPackage, unreachable } from '../support/real-packages.ts'
import { lackingUv, openTestRunner } from '../support/runner.ts'
import { openTransports } from '../support/transports.ts'

const all: readonly Trial[] = [
  { type: 'npm', name: '@wonderwhy-er/desktop-commander', version: '0.2.52', call: ['get_config', {}] },
  { type: 'npm', name: 'mcp-server-kubernetes', version: '4.1.7' },
  {
    type: 'pypi',
    name: 'markitdown-mcp',
    version: '0.0.1a7',
    call: ['convert_to_markdown', { uri: 'data:text/html,<h1>Hello</h1>' }],
  },
  {
    type: 'npm',
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    call: ['echo', { message: 'hello' }],
  },
  {
    type: 'npm',
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    call: ['read_graph', {}],
  },
  {
    type: 'npm',
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: ['/home/package'],
    call: ['list_allowed_directories', {}],
  },
  {
    type: 'npm',
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    call: [
      'sequentialthinking',
      { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    ],
  },
  { type: 'npm', name: '@upstash/context7-mcp', version: '4.1.1' },
  { type: 'npm', name: '@playwright/mcp', version: '0.0.83' },
  { type: 'npm', name: '@antv/mcp-server-chart', version: '0.9.10' },
  { type: 'npm', name: 'chrome-devtools-mcp', version: '1.11.0' },
  {
    type: 'pypi',
    name: 'mcp-server-time',
    version: '2026.10.19',
    call: ['get_current_time', { timezone: 'UTC' }],
  },
  { type: 'pypi', name: 'mcp-server-git', version: '2026.10.19' },
  { type: 'pypi', name: 'mcp-server-sqlite', version: '2025.4.25', call: ['list_tables', {}] },
  { type: 'pypi', name: 'mcp-server-fetch', version: '2026.10.24' },
  {
    type: 'pypi',
    name: 'mcp-server-calculator',
    version: '0.2.1',
    call: ['calculate', { expression: '6 * 7' }],
  },
  { type: 'pypi', name: 'duckduckgo-mcp-server', version: '0.7.0' },
  { type: 'pypi', name: 'arxiv-mcp-server', version: '0.8.2' },
  { type: 'pypi', name: 'wikipedia-mcp', version: '2.0.1' },
  {
    type: 'pypi',
    name: 'excel-mcp-server',
    version: '2.2.2',
    args: ['stdio'],
  },
]

/** A quarter of them where only a few rounds are wanted. */
const everyday = process.env.SOAK_ROUNDS === undefined ? all : all.filter((_, index) => index % 4 === 3)

const registries = await configuredRegistries()
const reason = lackingUv || (await unreachable(registries))
/** What an installation says when its registry does not answer. */
const isAway = (error: string) =>
  /failed to (?:fetch|download)|timed out|timeout|ECONN|ENOTFOUND|cancelled|aborted/i.test(error)
/** Packages that a registry may fail to deliver on a bad day. */
const maxAway = everyday.length / 5
if (reason !== '') console.log(`Real packages are not tried: ${reason} is missing or cannot be reached.`)

/** What the servers that need nothing outside answer to callers of the gateway, where that is no output. */
async function answersThroughGateway(runner: Runner, away: ReadonlySet<string>): Promise<unknown[]> {
  await using home = await startGateway({ DRAGOMAN_RUN_MAX: '20' }, { runner })
  const token = await home.token('root', { scopes: ['admin', 'a2a:call'] })
  const send = (action: string, params: object) =>
    home.request('POST', '/a2a/message', { body: { to: 'svc.registry', action, params }, token })
  const transports = openTransports(home).filter(({ name }) => /^(envelope|MCP over HTTP|A2A.*)$/.test(name))
  const problems: unknown[] = []
  for (const [index, { type, name, version, args = [], call }] of everyday.entries()) {
    if (!call || away.has(name)) continue
    const agent = `com.example/real-${index}`
    const packageArguments = args.map((value) => ({ type: 'positional', value }))
    const source = {
      registryType: type,
      identifier: name,
      version,
      transport: { type: 'stdio' },
      packageArguments,
    }
    const server = { name: agent, description: name, version: '1.0.0', packages: [source] }
    await send('import_entries', { lines: [JSON.stringify({ server })] })
    const { json } = await send('approve_package', { agent })
    if (json.problem !== null) problems.push([name, json])
    const [action, params] = call
    for (const transport of transports) {
      const outcome = await transport.call({ to: agent, action, params }, token)
      if (!('output' in outcome)) problems.push([name, transport.name, outcome])
    }
  }
  return problems
}

describe.skipIf(reason)(`${everyday.length} real servers`, () => {
  test('start in the sandbox without network, list their tools, and answer where they need nothing outside', async (context) => {
    const certificates = process.env.NODE_EXTRA_CA_CERTS
    await using world = await openTestRunner(registries, certificates === undefined ? {} : { certificates })
    const acquire = createSemaphore(4)
    const signal = AbortSignal.timeout(400_000)
    const results = await Promise.all(
      everyday.map(async (trial) => {
        using _slot = await acquire(signal)
        try {
          const { tools, ms, answer } = await tryPackage(world.runner, trial, signal)
          return {
            name: trial.name,
            tools: tools.length,
            ...ms,
            answered: trial.call && answer?.isError !== true,
            answer,
          }
        } catch (thrown) {
          return { name: trial.name, tools: 0, error: (thrown as Error).message }
        }
      }),
    )
    console.table(
      results.map(({ answer: _, ...row }: (typeof results)[number] & { answer?: unknown }) => row),
    )
    const away = results.filter((result) => 'error' in result && isAway(result.error))
    context.skip(away.length > maxAway, `Registries did not deliver ${away.length} packages.`)
    const names = new Set(away.map(({ name }) => name))
    expect(await answersThroughGateway(world.runner, names)).toEqual([])
    expect(results.filter(({ name, tools }) => tools === 0 && !names.has(name))).toEqual([])
    expect(results.filter((result) => 'answered' in result && result.answered === false)).toEqual([])
  })
})
