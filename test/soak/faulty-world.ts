import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { serveEnvelopes } from '../support/envelope-agent.ts'
import { faults } from '../support/faulty-agents.ts'
import { sendEnvelope } from '../support/send-envelope.ts'

const protocols = ['envelope', 'a2a', 'mcp']
/** Agents that fail, each fault by each protocol. */
export const names = faults.flatMap((_, kind) =>
  protocols.map((protocol) => `com.example.${protocol}-${kind}`),
)
export const wellName = 'com.example.well'

function start(name: 'agents' | 'remote', args: readonly string[] = []) {
  const child = fork(new URL(`./${name}-subject.ts`, import.meta.url), [...args], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return { child, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

export async function firstMessage<T>(child: ChildProcess): Promise<T> {
  return (await once(child, 'message'))[0] as T
}

/**
 * Agents that fail, one that is well, and a gateway before them whose clock runs so many times as fast as ours and that
 * waits so long for an agent.
 */
export async function openFaultyWorld({ clockRate = 1, timeout_ms = 150 }) {
  const stack = new AsyncDisposableStack()
  const { child: others } = stack.use(start('agents'))
  const { faulty } = await firstMessage<{ faulty: string }>(others)
  const healthy = stack.use(await serveEnvelopes())
  const args = [faulty, healthy.origin, ...[faults.length, clockRate, timeout_ms].map(String)]
  const { child: gateway } = stack.use(start('remote', args))
  const started = await firstMessage<{ url: string; token: string }>(gateway)
  return {
    gateway,
    /** As though the failing agents and their callers were on a machine of their own. */
    yieldToGateway: () => setPriority(others.pid ?? 0, constants.priority.PRIORITY_LOW),
    send: (to: string) => sendEnvelope(started.url, started.token, to),
    /** So many calls of agents that fail, twenty a second, however long each takes; made by another process. */
    async callFailing(calls: number): Promise<void> {
      others.send({ ...started, names, calls, every_ms: 50 })
      await firstMessage(others)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
