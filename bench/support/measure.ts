import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly baseline: number
  /** value / baseline; for CPU, below 1 means cheaper than the baseline. */
  readonly ratio: number
}

export interface Subject extends AsyncDisposable {
  readonly url: string
  /** A bearer token for the server, if the server announces one. */
  readonly token?: string
  readonly child: ChildProcess
  /** Microseconds of CPU (user and system) that the process has used. */
  cpu(): Promise<number>
}

/** Starts a server in a separate process, so that the CPU time of that process is the server's alone. */
export async function startSubject(
  module: URL,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<Subject> {
  const child = fork(module, [...args], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
  })
  // Reads and drops the output: a full pipe would block the process.
  child.stdout?.resume()
  const [{ url, token }] = (await once(child, 'message')) as [{ url: string; token?: string }]
  return {
    url,
    ...(token !== undefined && { token }),
    child,
    async cpu() {
      child.send('cpu')
      const [{ cpu }] = (await once(child, 'message')) as [{ cpu: number }]
      return cpu
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Called by the process that `startSubject` starts: reports its URL and answers questions about CPU time. */
export function announce(url: string, token?: string): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpu: user + system })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url, token })
}

interface Figures {
  readonly cpu_us: number
  readonly per_second: number
}

/** Measures one run of `count` operations. */
export async function timed(
  subject: Subject,
  count: number,
  load: (count: number) => Promise<void>,
): Promise<Figures> {
  const before = await subject.cpu()
  const started = performance.now()
  await load(count)
  const seconds = (performance.now() - started) / 1000
  const used = (await subject.cpu()) - before
  return { cpu_us: used / count, per_second: count / seconds }
}

/**
 * Measures two subjects in turn, A B A B …, after a warm-up by count. Returns one row for the CPU of an operation
 * and one for operations a second; each is the median over rounds, with its ratio to the baseline's.
 */
export async function compare(
  name: string,
  product: { subject: Subject; load: (count: number) => Promise<void> },
  baseline: { subject: Subject; load: (count: number) => Promise<void> },
  { warm = 4000, count = 4000, rounds = 5 }: { warm?: number; count?: number; rounds?: number } = {},
): Promise<Row[]> {
  await product.load(warm)
  await baseline.load(warm)
  const ours: Figures[] = []
  const theirs: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await timed(product.subject, count, product.load))
    theirs.push(await timed(baseline.subject, count, baseline.load))
  }
  return [
    row(`${name}: CPU`, 'us', ours, theirs, (item) => item.cpu_us),
    row(`${name}: rate`, '1/s', ours, theirs, (item) => item.per_second),
  ]
}

function row(
  name: string,
  unit: string,
  ours: Figures[],
  theirs: Figures[],
  read: (item: Figures) => number,
): Row {
  const value = median(ours.map(read))
  const baseline = median(theirs.map(read))
  const ratio = median(ours.map((our, at) => read(our) / read(theirs[at] ?? our)))
  return { name, value: round(value), unit, baseline: round(baseline), ratio: Number(ratio.toFixed(3)) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}
