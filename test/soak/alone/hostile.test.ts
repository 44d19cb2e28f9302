import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serve as serveHere } from '../../net/support.ts'
import { run, temporaryFolder } from '../../support/command.ts'
import { hostilePages } from '../../support/hostile-pages.ts'
import { serve } from '../../support/serve.ts'

const rounds = Number(process.env.SOAK_ROUNDS ?? 5)
const megabyte = 1024 * 1024
/** Milliseconds that a machine with other work may add to any p99. */
const noise = 15
const pages = new Map<string, string>(
  [
    ...hostilePages,
    ['100,000 links', () => '<a href="/x">link</a> '.repeat(100_000)],
    ['100,000 links never closed', () => '<a href="/x">link '.repeat(100_000)],
  ].map(([name, html]) => [`/${encodeURIComponent(name as string)}`, (html as () => string)()]),
)

/** Milliseconds that each request of a steady stream took, until the signal. */
async function stream(url: string, signal: AbortSignal): Promise<number[]> {
  const times: number[] = []
  const ask = async () => {
    const started = performance.now()
    const answer = await fetch(`${url}/a2a/message`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"to": "custom.svc.registry", "action": "resolve_package", "params": {"package_name": "svc.utility.wiki"}}',
    })
    await answer.text()
    expect(answer.status).toBe(200)
    times.push(performance.now() - started)
  }
  const calls: Promise<void>[] = []
  while (!signal.aborted) {
    calls.push(ask())
    await pause(10)
  }
  await Promise.all(calls)
  return times
}

const at = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0

function memoryOf(pid: number): number {
  const found = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(found?.[1]) * 1024
}

test('hostile pages are answered or refused in three seconds, without an effect on other callers', async () => {
  await using site = await serveHere((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(pages.get(request.url ?? ''))
  })
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: site.origin }
  const token = (await run(['token', 'create', '--sub', 'ada'], environment)).stdout.trim()
  await using gateway = await serve(folder.path, environment)

  async function read(path: string): Promise<{ code: string; ms: number }> {
    const started = performance.now()
    const answer = await fetch(`${gateway.url}/a2a/utility/reader`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ input: { url: `${site.origin}${path}`, max_chars: 1000 } }),
    })
    const { code = 'content' } = (await answer.json()) as { code?: string }
    return { code, ms: performance.now() - started }
  }
  async function during<T>(work: () => Promise<T>): Promise<[T, number[]]> {
    const stop = new AbortController()
    const times = stream(gateway.url, stop.signal)
    const result = await work()
    stop.abort()
    return [result, await times]
  }

  await read('/warm')
  const before = memoryOf(gateway.pid)
  const ratios: number[] = []
  const fastest = new Map<string, number>()
  /** The p99 of an undisturbed request: large on a machine that has little time to give. */
  let slowness = Number.POSITIVE_INFINITY
  // On a shared machine single figures vary; the best round shows the speed of the gateway.
  const isFast = () =>
    Math.min(...ratios) < 2 && [...fastest.values()].every((ms) => ms < 3_000 + 20 * slowness)
  for (let round = 0; round < rounds && !isFast(); round++) {
    const answers: { path: string; code: string; ms: number }[] = []
    const quiet: number[] = []
    const loud: number[] = []
    // In turn, so that whatever else the machine does is in both.
    for (const path of pages.keys()) {
      quiet.push(...(await during(() => pause(250)))[1])
      const [answer, times] = await during(() => read(path))
      answers.push({ path, ...answer })
      loud.push(...times)
    }
    const slowest = answers.reduce((most, item) => (item.ms > most.ms ? item : most))
    slowness = Math.min(slowness, at(quiet, 0.99))
    ratios.push((at(loud, 0.99) - noise) / at(quiet, 0.99))
    console.log(
      `p50 ${at(quiet, 0.5).toFixed(1)} then ${at(loud, 0.5).toFixed(1)} ms,`,
      `p99 ${at(quiet, 0.99).toFixed(1)} then ${at(loud, 0.99).toFixed(1)} ms; slowest`,
      slowest,
      Object.entries(Object.groupBy(answers, ({ code }) => code)).map(([code, ones]) => [code, ones?.length]),
    )
    for (const { path, code } of answers) {
      expect(['content', 'deadline_exceeded', 'upstream_invalid', 'too_large'], path).toContain(code)
    }
    for (const { path, ms } of answers) fastest.set(path, Math.min(ms, fastest.get(path) ?? ms))
  }
  for (const [path, ms] of fastest) expect(ms, path).toBeLessThan(3_000 + 20 * slowness)
  expect(Math.min(...ratios)).toBeLessThan(2)
  expect((await read('/warm')).code).toBe('content')
  expect(memoryOf(gateway.pid) - before).toBeLessThan(600 * megabyte)
})
