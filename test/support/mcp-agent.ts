import { expect } from 'vitest'
import type { Update } from '../../schemas/action.ts'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import type { SafeFetchOptions } from '../../src/net/fetch/safe-fetch.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { checkOutput } from '../../src/remote/check-output.ts'
import { createMcpConnect, type McpOptions } from '../../src/remote/mcp/mcp.ts'
import type { RemoteAgent, RemoteCall } from '../../src/remote/remote-agent.ts'

interface TestAgent extends AsyncDisposable {
  readonly agent: RemoteAgent
  /** The context of a call by an ordinary caller. */
  call(overrides?: Partial<RemoteCall>): RemoteCall
  /** The output of one call, checked as all outputs of agents are. */
  ask(action: string, params?: object, overrides?: Partial<RemoteCall>): Promise<unknown>
}

/** An MCP agent of this gateway at a URL whose origin is allowed. */
export function agentAt(
  url: string,
  {
    binding,
    net,
    ...options
  }: Partial<McpOptions> & { readonly binding?: string; readonly net?: Partial<SafeFetchOptions> } = {},
): TestAgent {
  const { origin } = new URL(url.replace(/^ws/, 'http'))
  const safe = createSafeFetch({ user_agent: 'test', allow_origins: [origin], ...net })
  const connect = createMcpConnect({ ...safe, client: { name: 'test', version: '1' }, ...options })
  const endpoint: Endpoint = { protocol: 'mcp', url, ...(binding !== undefined && { binding }) }
  const facts = { package_name: 'com.example.mcp', address: 'custom.com.example.mcp', card: {} }
  const agent = connect(endpoint, facts)
  if (!agent) throw new Error('not spoken')
  const call = (overrides: Partial<RemoteCall> = {}): RemoteCall => ({
    signal: new AbortController().signal,
    headers: {},
    caller: 'ada',
    onActivity() {},
    emit: async () => {},
    ...overrides,
  })
  return {
    agent,
    call,
    async ask(action, params = {}, overrides = {}) {
      const answer = await agent.call(action, params as never, call(overrides))
      if ('refused' in answer) throw answer.refused
      return 'output' in answer ? checkOutput(facts.package_name, answer.output) : answer
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      await safe[Symbol.asyncDispose]()
    },
  }
}

/** Collects the progress of a call. */
export function collect(): { readonly updates: Update[]; emit(update: Update): Promise<void> } {
  const updates: Update[] = []
  return {
    updates,
    async emit(update) {
      updates.push(update)
    },
  }
}

/** Expects the value to become correct within a while: the machine may be busy. */
export function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 5, timeout: 15_000 })
}
