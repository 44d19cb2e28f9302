import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Health } from '../../src/app/runtime.ts'
import { observeEngine } from '../../src/app/search-engine.ts'
import { systemWait } from '../../src/common/clock.ts'
import { UnreachableEngine } from '../../src/search/elasticsearch/client.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'

const soon = { timeout: 10_000, interval: 20 }

test('a gateway says that its search engine is away, and by itself that it is back', async () => {
  await using stack = new AsyncDisposableStack()
  const port = await freePort()
  const time = { now: Date.now() }
  const lines: unknown[] = []
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line).msg) })
  const gateway = stack.use(
    await startGateway(
      { DRAGOMAN_SEARCH: `elasticsearch+http://127.0.0.1:${port}/registry` },
      { log, clock: () => time.now, wait: (_, signal) => systemWait(20, signal) },
    ),
  )
  const readyz = async () => (await gateway.request('GET', '/readyz')).json
  await expect.poll(readyz, soon).toMatchObject({ status: 'degraded', reasons: ['search_unavailable'] })
  expect((await gateway.request('GET', '/metrics')).text).toContain('\ndragoman_degraded 1\n')
  const engine = createServer((_, response) => response.writeHead(404).end('{}'))
  stack.defer(() => void engine.closeAllConnections())
  await new Promise<void>((resolve) => engine.listen(port, '127.0.0.1', resolve))
  const readyzLater = () => {
    time.now += 5000
    return readyz()
  }
  await expect.poll(readyzLater, soon).toMatchObject({ reasons: [] })
  expect(lines.slice(0, 2)).toEqual(['the search engine cannot be reached', 'the search engine is back'])
})

test('an engine that is away is asked until it answers, also where nobody searches', async () => {
  await using stack = new AsyncDisposableStack()
  const health: Health = new Set()
  const time = { now: 0 }
  const questions: string[] = []
  const observer = observeEngine(
    {
      stack,
      health,
      log: createLogger('silent'),
      clock: () => time.now,
      async wait(milliseconds) {
        time.now += milliseconds
      },
    },
    { url: 'http://127.0.0.1:9200', index: 'registry' },
    async ({ url }) => {
      questions.push(url)
      if (questions.length < 3) throw new Error('connect ECONNREFUSED')
      return { status: 200, body: new Uint8Array() }
    },
  )
  observer.onFault(new UnreachableEngine('unavailable', 'The search engine does not answer.'))
  expect([...health]).toEqual(['search_unavailable'])
  await expect.poll(() => [...health], soon).toEqual([])
  expect(questions).toEqual(Array(3).fill('http://127.0.0.1:9200/registry-*/_count'))
})

test('an engine that comes and goes is asked by one loop', async () => {
  await using stack = new AsyncDisposableStack()
  const health: Health = new Set()
  const time = { now: 0 }
  let waiting = 0
  const wait = (_: number, signal: AbortSignal) => {
    waiting++
    return new Promise<void>((_, reject) => signal.addEventListener('abort', reject))
  }
  const observer = observeEngine(
    { stack, health, log: createLogger('silent'), clock: () => time.now, wait },
    { url: 'http://127.0.0.1:9200', index: 'registry' },
    async () => ({ status: 200, body: new Uint8Array() }),
  )
  for (let outage = 0; outage < 3; outage++) {
    observer.onFault(new UnreachableEngine('unavailable', 'The search engine does not answer.'))
    expect([...health]).toEqual(['search_unavailable'])
    time.now += 5000
    observer.onAnswer()
    expect([...health]).toEqual([])
  }
  expect(waiting).toBe(1)
})

test.each([
  ['it takes them', false],
  ['it has them from another gateway', true],
])('an engine that refuses changes is told once, without a stack, until %s', async (_, isElsewhere) => {
  await using stack = new AsyncDisposableStack()
  const port = await freePort()
  let isReadOnly = true
  /** Later, a write of the state is refused if another gateway has made it just before. */
  const isRefused = (_id: string) => isReadOnly || (isElsewhere && _id === '.state')
  const documents = new Map<string, object>()
  const engine = createServer(async (request, response) => {
    const body = await text(request)
    const answer = (json: object, status = 200) => response.writeHead(status).end(JSON.stringify(json))
    const [, index = ''] = /^\/([^/?]+)/.exec(request.url ?? '') ?? []
    if (request.url?.includes('/_bulk')) {
      const heads = body
        .split('\n')
        .filter((line) => line.startsWith('{"index"') || line.startsWith('{"delete"'))
      const error = { type: 'cluster_block_exception', reason: 'index [registry] blocked by: FORBIDDEN/8' }
      const items = heads.map((line) => {
        const [[kind = '', { _id } = { _id: '' }] = []] = Object.entries<{ _id: string }>(JSON.parse(line))
        return { [kind]: isRefused(_id) ? { _id, status: 403, error } : { _id, status: 200 } }
      })
      const state = /"state":(\{"revision":.*?\})\}/.exec(body)?.[1]
      if (!isReadOnly && state) documents.set(index.replace('-writes', ''), { state: JSON.parse(state) })
      return answer({ items })
    }
    if (request.url?.endsWith('/_doc/.state')) {
      const _source = documents.get(`${index}.1`)
      return answer({ _index: `${index}.1`, ...(_source && { _source }) }, _source ? 200 : 404)
    }
    if (request.url?.endsWith('/_refresh')) return answer({ _shards: { failed: 0 } })
    answer({})
  })
  stack.defer(() => void engine.closeAllConnections())
  await new Promise<void>((resolve) => engine.listen(port, '127.0.0.1', resolve))
  const lines: { msg: string; err?: unknown }[] = []
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
  const DRAGOMAN_SEARCH = `elasticsearch+http://127.0.0.1:${port}/registry`
  const gateway = stack.use(await startGateway({ DRAGOMAN_SEARCH }, { log }))
  const readyz = async () => (await gateway.request('GET', '/readyz')).json
  await expect.poll(readyz, soon).toMatchObject({ status: 'degraded', reasons: ['search_read_only'] })
  isReadOnly = false
  await expect.poll(readyz, soon).toMatchObject({ reasons: [] })
  const written = lines.filter(({ msg }) => msg.includes('takes'))
  expect(new Set(written.map(({ msg }) => msg))).toEqual(
    new Set(['the search engine takes no changes', 'the search engine takes changes again']),
  )
  expect(lines.filter(({ err }) => err !== undefined)).toEqual([])
})
