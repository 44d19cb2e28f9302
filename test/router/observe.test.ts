import { expect, test } from 'vitest'
import { localIssuer } from '../../schemas/identity.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createObserver } from '../../src/telemetry/observe.ts'
import { createTraffic } from '../../src/telemetry/traffic.ts'
import { anonymous, principal, routerOver, sampleAction, sampleAgent } from '../support/router.ts'

const to = 'com.test.agent'
const agent = sampleAgent(to, [
  sampleAction('echo'),
  sampleAction('mcp_request'),
  sampleAction('break', {
    run: async () => {
      throw new Error('SECRET of the database')
    },
  }),
])

/** A router that logs and counts as the gateway's does. */
function observed() {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const metrics = createMetrics({})
  const traffic = createTraffic(() => 0)
  const isKnown = (name: string, action: string) => name === to && ['echo', 'break'].includes(action)
  const router = routerOver([agent], { observe: createObserver({ log, metrics, traffic }, isKnown) })
  const counts = async () =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('dragoman_call_seconds_count'))
  return { ...router, lines, counts, traffic }
}

test('one call is one log line and one count', async () => {
  const { dispatch, lines, counts } = observed()
  const call = anonymous({ principal: principal('ada'), id: 'the-id' })
  await dispatch({ to, action: 'echo', params: { secret: 'SECRET' } }, call)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 30, id: 'the-id', to, action: 'echo', code: 'ok', sub: 'ada' })
  expect(JSON.stringify(lines)).not.toContain('SECRET')
  expect(await counts()).toEqual([`dragoman_call_seconds_count{to="${to}",action="echo",code="ok"} 1`])
})

test('a caller of another issuer is logged with the issuer', async () => {
  const { dispatch, lines } = observed()
  const issuer = 'https://login.example'
  const call = { to, action: 'echo', params: {} }
  await dispatch(call, anonymous({ principal: { ...principal('ada'), issuer } }))
  await dispatch(call, anonymous({ principal: { ...principal('ada'), issuer: localIssuer } }))
  expect(lines.map(({ sub, issuer }) => [sub, issuer])).toEqual([
    ['ada', issuer],
    ['ada', undefined],
  ])
})

test("a caller's failure is logged as information, with its text", async () => {
  const { dispatch, lines } = observed()
  await dispatch({ to, action: 'ecko' }, anonymous()).catch(() => {})
  expect(lines).toMatchObject([{ level: 30, code: 'unknown_action', detail: `${to} has no action ecko.` }])
})

test('a request of MCP that was passed on is logged with its method and the name of the tool, not with its arguments', async () => {
  const { dispatch, lines } = observed()
  const params = { method: 'tools/call', params: { name: 'add_row', arguments: { cell: 'SECRET' } } }
  await dispatch({ to, action: 'mcp_request', params }, anonymous())
  await dispatch({ to, action: 'mcp_request', params: { method: 'tools/list' } }, anonymous())
  expect(lines).toMatchObject([{ method: 'tools/call', name: 'add_row' }, { method: 'tools/list' }])
  expect(lines[1]).not.toHaveProperty('name')
  expect(JSON.stringify(lines)).not.toContain('SECRET')
})

test('unknown names do not grow the metrics', async () => {
  const { dispatch, counts } = observed()
  for (const name of ['com.a.b', 'com.c.d', `com.${'x'.repeat(100_000)}`]) {
    await dispatch({ to: name, action: 'echo' }, anonymous()).catch(() => {})
  }
  const unknown = 'dragoman_call_seconds_count{to="unknown",action="unknown"'
  expect(await counts()).toEqual([`${unknown},code="not_found"} 2`, `${unknown},code="invalid_request"} 1`])
})

test('a name without end does not fill the log', async () => {
  const { dispatch, lines } = observed()
  const endless = 'x'.repeat(500_000)
  await dispatch({ to: endless, action: endless }, anonymous()).catch(() => {})
  expect(JSON.stringify(lines).length).toBeLessThan(2000)
})

test('an internal failure is logged as an error, with its cause and where it came from', async () => {
  const { dispatch, lines } = observed()
  await dispatch({ to, action: 'break' }, anonymous()).catch(() => {})
  expect(lines).toMatchObject([{ level: 50, code: 'internal' }])
  expect(JSON.stringify(lines)).toContain('SECRET of the database')
  expect(JSON.stringify(lines)).toContain('observe.test.ts')
})

test('one call counts once in its hour, by what became of it', async () => {
  const { dispatch, traffic } = observed()
  await dispatch({ to, action: 'echo' }, anonymous())
  await dispatch({ to, action: 'ecko' }, anonymous()).catch(() => {})
  await dispatch({ to, action: 'break' }, anonymous()).catch(() => {})
  expect(traffic.hours().at(-1)).toMatchObject({ calls: 3, refused: 1, failed: 1 })
})
