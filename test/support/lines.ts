import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

interface LinePeer extends AsyncDisposable {
  send(message: unknown): void
  /** The answer with this id. */
  answer(id: string | number): Promise<Record<string, unknown>>
  readonly process: ChildProcess
  /** Closes the input of the process and waits for its end. */
  end(): Promise<number | null>
}

/** A process that exchanges JSON lines over stdin and stdout. */
export function startLines(
  command: string,
  args: readonly string[],
  environment: Record<string, string>,
): LinePeer {
  const child = spawn(command, args, { env: environment, stdio: ['pipe', 'pipe', 'ignore'] })
  const answers = mailbox()
  createInterface({ input: child.stdout }).on('line', (line) => answers.deliver(JSON.parse(line)))
  return {
    process: child,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    answer: answers.take,
    async end() {
      child.stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      return child.exitCode
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Matches answers to ids, in any order of arrival. */
export function mailbox() {
  const arrived = new Map<unknown, Record<string, unknown>>()
  const waiters = new Map<unknown, (message: Record<string, unknown>) => void>()
  return {
    deliver(message: Record<string, unknown>): void {
      const waiting = waiters.get(message.id)
      if (waiting) waiting(message)
      else arrived.set(message.id, message)
    },
    take(id: unknown): Promise<Record<string, unknown>> {
      const here = arrived.get(id)
      if (here) return Promise.resolve(here)
      return new Promise((resolve) => waiters.set(id, resolve))
    },
  }
}
