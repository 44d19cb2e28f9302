import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { command, run as runCommand, temporaryFolder } from '../support/command.ts'
import { hostedNames } from '../support/hosted.ts'
import { startLines } from '../support/lines.ts'
import { modernRequest } from '../support/mcp.ts'
import { run } from '../support/processes.ts'
import { publication } from '../support/registry.ts'
import { serve } from '../support/serve.ts'

const server = (number: number) =>
  JSON.stringify({
    packageName: `shared-${number}`,
    name: `Shared ${number}`,
    description: `Shares thing number ${number}.`,
    url: `https://github.com/shared/${number}`,
    runtime: 'node',
  })

test('a server, an import and two MCP processes share one folder and lose nothing', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_LOG: 'silent', PATH: process.env.PATH ?? '' }
  const list = join(folder.path, 'list.jsonl')
  await writeFile(list, Array.from({ length: 300 }, (_, number) => server(number)).join('\n'))
  await using gateway = await serve(folder.path)
  const token = (await runCommand(['token', 'create', '--sub', 'ada'], environment)).stdout.trim()
  const identified = { ...environment, DRAGOMAN_TOKEN: token }
  await using first = startLines(process.execPath, [command, 'mcp', '--manage'], identified)
  await using second = startLines(process.execPath, [command, 'mcp', '--manage'], identified)

  const call = (action: string, params: object) => ({
    name: 'call_agent',
    arguments: { package_name: 'svc.registry', action, params },
  })
  async function publishBy(peer: typeof first, prefix: string): Promise<void> {
    for (let id = 1; id <= 10; id++) {
      peer.send(modernRequest(id, 'tools/call', call('publish', publication(`${prefix}.agent-${id}`))))
      expect(await peer.answer(id)).toMatchObject({ result: { structuredContent: { state: 'STAGE' } } })
    }
  }
  async function publishOverHttp(): Promise<void> {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    for (let number = 1; number <= 10; number++) {
      const body = JSON.stringify(publication(`com.http.agent-${number}`))
      const answer = await fetch(`${gateway.url}/api/agents/publish`, { method: 'POST', headers, body })
      expect(answer.status).toBe(201)
    }
  }
  const [imported] = await Promise.all([
    runCommand(['import', list, '--json'], environment),
    publishBy(first, 'com.first'),
    publishBy(second, 'com.second'),
    publishOverHttp(),
  ])
  expect(JSON.parse(imported.stdout)).toMatchObject({ created: 300, rejected: [] })

  await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'))
  const log = await store.changes(0, 1000)
  const entries = hostedNames.length + 330
  expect(log.map((change) => change.revision)).toEqual(
    Array.from({ length: entries }, (_, index) => index + 1),
  )
  expect(new Set(log.map((change) => change.entry_id)).size).toBe(entries)

  const overHttp = async () => {
    const answer = await fetch(`${gateway.url}/public/agents?limit=1`)
    return ((await answer.json()) as { total: number }).total
  }
  const overStdio = async (id: string) => {
    first.send(
      modernRequest(id, 'tools/call', { name: 'search_agents', arguments: { sort: 'name', limit: 1 } }),
    )
    const { result } = (await first.answer(id)) as { result: { structuredContent: { total: number } } }
    return result.structuredContent.total
  }
  const started = performance.now()
  const seen = { http: 0, stdio: 0 }
  const total = hostedNames.length + 300
  for (let turn = 0; Math.min(seen.http, seen.stdio) < total && performance.now() - started < 2000; turn++) {
    seen.http = await overHttp()
    seen.stdio = await overStdio(`total ${turn}`)
  }
  expect(seen).toEqual({ http: total, stdio: total })
  expect([await first.end(), await second.end()]).toEqual([0, 0])
})

test('a busy port is said in words, and the process ends with a failure', async () => {
  await using folder = await temporaryFolder()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  await using second = run(process.execPath, [command, 'serve'], {
    DRAGOMAN_DATA: folder.path,
    PORT: String(port),
    DRAGOMAN_LOG: 'error',
  })
  const { code, stdout, stderr } = await second.ended
  taken.close()
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(`Cannot listen on 127.0.0.1:${port}: another process listens there.`)
  expect(stderr).not.toContain('    at ')
})
