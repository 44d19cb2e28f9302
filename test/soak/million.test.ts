import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eachEntryLine } from '../../bench/support/entries.ts'
import { median } from '../../bench/support/measure.ts'
import { command, run as runCommand, temporaryFolder } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { type Running, run } from '../support/processes.ts'
import { publication } from '../support/registry.ts'

/** A million takes an hour and 20 GB of disk, so only who asks for it gets it. */
const isMillion = process.env.SOAK_MILLION !== undefined
const count = isMillion ? 1_000_000 : 5000
const maxMegabytes = isMillion ? 6 * 1024 : 1024

/** Lines of MCP servers with one or two tools, so that an entry has 2.7 vectors. */
function* lines(): Generator<string> {
  let at = 0
  for (const line of eachEntryLine(count)) {
    const server = JSON.parse(line)
    yield `${JSON.stringify({ ...server, tools: server.tools.slice(0, at++ % 3 === 0 ? 1 : 2) })}\n`
  }
}

interface Page {
  readonly agents: readonly { readonly package_name: string }[]
  readonly total: number
}

/** The most memory that a process has had, in MB; 0 where the system does not tell. */
function peakOf({ pid }: Running): number {
  const path = `/proc/${pid}/status`
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(existsSync(path) ? readFileSync(path, 'utf8') : '') ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** Seconds of CPU time of a process. */
function cpuOf({ pid }: Running): number {
  const path = `/proc/${pid}/stat`
  const fields = existsSync(path) ? readFileSync(path, 'utf8').split(') ')[1]?.split(' ') : undefined
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) / 100
}

test(
  `a registry of ${count} agents is imported, killed, started, searched, changed and stopped in one process of bounded memory`,
  async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    const file = join(folder.path, 'agents.jsonl')
    await writeFile(file, lines())
    const environment = { DRAGOMAN_DATA: data, DRAGOMAN_LOG: 'silent', DRAGOMAN_LIVENESS: 'off' }
    const figures: Record<string, number> = {}
    const begun = performance.now()
    const took = (since: number) => Math.round(performance.now() - since)

    await using importing = run(process.execPath, [command, 'import', file], environment)
    let hasEnded = false
    void importing.ended.then(() => {
      hasEnded = true
    })
    while (!hasEnded) {
      figures.import_megabytes = Math.max(figures.import_megabytes ?? 0, peakOf(importing))
      figures.import_cpu_s = Math.max(figures.import_cpu_s ?? 0, cpuOf(importing))
      await pause(200)
    }
    figures.import_ms = took(begun)
    expect(await importing.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${count} created`),
    })

    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const token = (
      await runCommand(['token', 'create', '--sub', 'ada'], { ...environment, PORT: String(port) })
    ).stdout
    const serve = () =>
      run(process.execPath, [command, 'serve'], {
        ...environment,
        PORT: String(port),
        DRAGOMAN_RATE_LIMIT: 'off',
        DRAGOMAN_QUOTAS: 'off',
      })
    async function publish(name: string) {
      const answer = await fetch(`${url}/api/agents/publish`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token.trim()}` },
        body: JSON.stringify(publication(name)),
      })
      expect(answer.status, await answer.text()).toBe(201)
      const live = await fetch(`${url}/api/agents/${name}/go-live`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token.trim()}` },
      })
      expect(live.status).toBe(200)
    }
    const list = async (query: string) => {
      const answer = await fetch(`${url}/public/agents?${query}`)
      expect(answer.status).toBe(200)
      return (await answer.json()) as Page
    }
    {
      // It derives the index anew, and says so meanwhile.
      await rm(join(data, 'index'), { recursive: true })
      await using interrupted = serve()
      await interrupted.printed(/The index is being read or built/)
      interrupted.process.kill('SIGTERM')
      const { code, stdout } = await interrupted.ended
      expect([code, stdout]).toEqual([0, ''])
    }
    {
      await using killed = serve()
      await killed.printed(/listening on/)
      await publish('com.example.before')
      killed.process.kill('SIGKILL')
      await killed.ended
    }
    const started = performance.now()
    await using served = serve()
    const isAnswered = () =>
      fetch(`${url}/public/agents/com.example.before`).then(
        (answer) => answer.status === 200,
        () => false,
      )
    while (!(await isAnswered())) await pause(20)
    figures.first_answer_ms = took(started)
    await served.printed(/listening on/)
    figures.ready_ms = took(started)
    const searchBegun = cpuOf(served)
    for (let at = 0; at < 50; at++) {
      const found = await list(`limit=10&q=${encodeURIComponent(`convert an invoice ${at} by chat`)}`)
      expect(found.agents).toHaveLength(10)
      expect(found).not.toHaveProperty('degraded')
    }
    figures.search_cpu_ms = Math.round((cpuOf(served) - searchBegun) * 20)
    const [before] = (await list('limit=1')).agents
    expect(before?.package_name).toBe('com.example.before')
    const { total } = await list('limit=1&package_type=npm')
    expect(total).toBeGreaterThan(count / 2)
    const lists: number[] = []
    for (let at = 0; at < 9; at++) {
      await publish(`com.example.after-${at}`)
      const listed = performance.now()
      const [after] = (await list('limit=1')).agents
      lists.push(performance.now() - listed)
      expect(after?.package_name).toBe(`com.example.after-${at}`)
    }
    figures.list_after_change_ms = Number(median(lists).toFixed(1))
    figures.serve_megabytes = peakOf(served)
    const stopped = performance.now()
    served.process.kill('SIGTERM')
    expect(await served.ended).toMatchObject({ code: 0 })
    figures.stop_ms = took(stopped)
    console.log(JSON.stringify(figures))
    expect(Math.max(figures.serve_megabytes, figures.import_megabytes ?? 0)).toBeLessThan(maxMegabytes)
  },
  4 * 3_600_000,
)
