import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../support/command.ts'
import { type Served, serve } from '../support/serve.ts'

export interface Answer {
  readonly status: number
  /** Empty without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly json: any
}

interface Node {
  readonly data: string
  /** Undefined while it is dead. */
  served: Served | undefined
}

/** Processes of `dragoman serve` over one store. */
export interface Nodes extends AsyncDisposable {
  /** A token of one user, good at each of them. */
  readonly token: string
  readonly up: () => readonly Served[]
  /** `kill -9`, and its end. */
  kill(at: number): Promise<void>
  restart(at: number): Promise<void>
}

/** Addresses in answers are the same whichever node gives them, as behind a balancer. */
const common = { DRAGOMAN_LIVENESS: 'off', DRAGOMAN_BASE_URL: 'http://127.0.0.1:8080' }

/** One node for each data folder; the first makes the keys, the others are handed them. */
export async function startNodes(
  folders: readonly string[],
  environment: Record<string, string> = {},
): Promise<Nodes> {
  const settings = { ...common, ...environment }
  const stack = new AsyncDisposableStack()
  const nodes: Node[] = []
  const start = async (data: string) => {
    const served = stack.use(await serve(data, settings))
    await ready(served)
    return served
  }
  const [first = ''] = folders
  for (const data of folders) {
    if (data !== first) await cp(join(first, 'keys'), join(data, 'keys'), { recursive: true })
    nodes.push({ data, served: await start(data) })
  }
  const made = await run(['token', 'create', '--sub', 'ada'], { ...settings, DRAGOMAN_DATA: first })
  if (made.code !== 0) throw new Error(`No token was made: ${made.stderr}`)
  return {
    token: made.stdout.trim(),
    up: () => nodes.flatMap(({ served }) => served ?? []),
    async kill(at) {
      const node = nodes[at] as Node
      const { served } = node
      node.served = undefined
      served?.process.kill('SIGKILL')
      await served?.ended
    },
    async restart(at) {
      const node = nodes[at] as Node
      node.served = await start(node.data)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function ready(served: Served): Promise<void> {
  for (;;) {
    const answer = await ask(served, 'GET', '/readyz')
    if (answer?.status === 200) return
    await expectRunning(served)
    await pause(50)
  }
}

/** Throws if a node has ended by itself, with its last output. */
export async function expectRunning({ process, ended }: Served): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) return
  const { code, signal, stderr } = await ended
  throw new Error(`A node ended by ${code ?? signal}: ${stderr}`)
}

/** Like `ask`, but throws without an answer. */
export async function expectAnswered(node: Served, ...request: RequestArguments): Promise<Answer> {
  const answer = await ask(node, ...request)
  if (answer) return answer
  await expectRunning(node)
  throw new Error(`${node.url} does not answer ${request[0]} ${request[1]}.`)
}

type RequestArguments = [method: string, path: string, options?: { token?: string; body?: unknown }]

/** Undefined if the connection broke before or during the answer. The id of a problem is removed. */
export async function ask(
  { url }: Served,
  ...[method, path, { token, body } = {}]: RequestArguments
): Promise<Answer | undefined> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const { instance: _, ...json } = text === '' ? {} : JSON.parse(text)
    return { status: answer.status, json }
  } catch {
    return undefined
  }
}
