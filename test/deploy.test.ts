import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from './support/command.ts'
import { freePort } from './support/free-port.ts'
import { startGateway } from './support/gateway.ts'

const root = resolve(import.meta.dirname, '..')
const execute = promisify(execFile)
const analyze = '/usr/bin/systemd-analyze'
const promtool = '/usr/bin/promtool'
const nginx = '/usr/sbin/nginx'
const soon = { timeout: 5000, interval: 50 }

test('the image takes what is there, or what its build makes', async () => {
  const file = await readFile(join(root, 'deploy/Dockerfile'), 'utf8')
  const sources = [...file.matchAll(/^COPY (?:--from=build )?(.+) \S+$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  )
  expect(sources.length).toBeGreaterThan(5)
  for (const source of sources.map((path) => path.replace(/^\/app\//, ''))) {
    if (source === 'dist') continue
    expect(existsSync(join(root, source)), source).toBe(true)
  }
  const { files, scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  expect(scripts.build).toBeDefined()
  const needed = files.filter((path: string) => !/\.md$|^LICENSE$/.test(path))
  for (const path of needed) expect(sources, path).toContain(`/app/${path}`)
})

test.skipIf(!existsSync(analyze))('the systemd unit is one', async () => {
  // It fails where Node stands elsewhere on this machine.
  const verified = execute(analyze, ['verify', join(root, 'deploy/dragoman.service')])
  const { stderr } = await verified.catch((fault: { stderr: string }) => fault)
  expect(stderr).not.toMatch(/dragoman\.service.*(Unknown|Invalid|ignoring)/i)
})

test('each alert watches a metric that a gateway has', async () => {
  await using home = await startGateway()
  const { text } = await home.request('GET', '/metrics')
  const { groups } = parse(await readFile(join(root, 'deploy/alerts.yml'), 'utf8'))
  const rules: { alert: string; expr: string; annotations: object }[] = groups[0].rules
  expect(rules.length).toBeGreaterThan(4)
  for (const { alert, expr, annotations } of rules) {
    const [metric = ''] = /\bdragoman_\w+|\bup\b/.exec(expr) ?? []
    const family = metric.replace(/_count$/, '')
    if (metric !== 'up') expect(text, alert).toContain(`# TYPE ${family} `)
    expect(Object.keys(annotations), alert).toEqual(['summary', 'action'])
  }
})

test.skipIf(!existsSync(promtool))('each alert fires, also at the first failure of a kind', async () => {
  await using folder = await temporaryFolder()
  const of = { job: 'dragoman', instance: 'one' }
  const calls = (labels: object) => ({
    series: seriesOf('dragoman_call_seconds_count', { ...of, to: 'svc.registry', ...labels }),
    values: '_x30 1x30',
  })
  const series = (name: string, values: string, labels: object = of) => ({
    series: seriesOf(name, labels),
    values,
  })
  const expected = {
    DragomanDown: of,
    DragomanStoreAway: of,
    DragomanDegraded: of,
    DragomanFails: of,
    DragomanIndexBehind: of,
    DragomanReport: { job: 'dragoman' },
    DragomanMirrorFails: { job: 'dragoman', mirror: 'official' },
  }
  const path = join(folder.path, 'test.json')
  const alerts = join(root, 'deploy/alerts.yml')
  const rules: { alert: string }[] = parse(await readFile(alerts, 'utf8')).groups[0].rules
  expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(expected))
  const test = {
    interval: '15s',
    input_series: [
      series('up', '0x60'),
      series('dragoman_store_away', '1x60'),
      series('dragoman_degraded', '1x60'),
      series('dragoman_applied_revision', '5x60'),
      series('dragoman_applied_revision', '7x60', { ...of, instance: 'other' }),
      series('dragoman_mirror_failures', '3x60', { ...of, mirror: 'official' }),
      calls({ action: 'publish', code: 'internal' }),
      calls({ action: 'report', code: 'ok' }),
    ],
    promql_expr_test: Object.entries(expected).map(([alertname, labels]) => ({
      eval_time: '11m',
      expr: `count without () (ALERTS{alertname="${alertname}"})`,
      exp_samples: [{ labels: seriesOf('', { alertname, alertstate: 'firing', ...labels }), value: 1 }],
    })),
  }
  await writeFile(path, JSON.stringify({ rule_files: [alerts], evaluation_interval: '15s', tests: [test] }))
  const { stdout } = await execute(promtool, ['test', 'rules', path]).catch((fault) => fault)
  expect(stdout).toContain('SUCCESS')
})

test.skipIf(!existsSync(nginx))(
  'nginx loses no request while two gateways are restarted in turn',
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(await temporaryFolder())
    const guide = await readFile(join(root, 'docs/operations.md'), 'utf8')
    const [, example = ''] = /```nginx\n(.+?)```/s.exec(guide) ?? []
    const [port, ...gateways] = [await freePort(), await freePort(), await freePort()]
    const site = gateways
      .reduce((text, gateway, at) => text.replace(`10.0.0.${at + 1}:8080`, `127.0.0.1:${gateway}`), example)
      .replace(/^.*10\.0\.0\.3.*$/m, '')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    const path = join(folder.path, 'nginx.conf')
    const own = `daemon off; pid ${folder.path}/pid; error_log ${folder.path}/errors;`
    await writeFile(path, `${own} events {} http { access_log off; ${site} }`)
    const [first, second] = [serveNumber(gateways[0]), serveNumber(gateways[1])]
    stack.defer(first.stop)
    stack.defer(second.stop)
    await Promise.all([first.start(), second.start()])
    const proxy = spawn(nginx, ['-c', path], { stdio: 'ignore' })
    stack.defer(async () => {
      proxy.kill()
      await once(proxy, 'exit')
    })
    const answer = () =>
      fetch(`http://127.0.0.1:${port}/`)
        .then((found) => found.text())
        .catch(() => '')
    const reached = async (gateway: number | undefined) => {
      const answers = await Promise.all(Array.from({ length: 4 }, answer))
      return answers.includes(String(gateway))
    }
    await expect.poll(() => reached(gateways[1]), soon).toBe(true)
    await first.stop()
    expect(await Promise.all([answer(), answer(), answer()])).toEqual(Array(3).fill(String(gateways[1])))
    await first.start()
    await expect.poll(() => reached(gateways[0]), soon).toBe(true)
    await second.stop()
    expect(await Promise.all([answer(), answer(), answer()])).toEqual(Array(3).fill(String(gateways[0])))
  },
)

/** A server that answers the number of its port. */
function serveNumber(port: number | undefined) {
  const server = createServer((_, response) => response.end(String(port)))
  return {
    start: async () => void (await once(server.listen(port, '127.0.0.1'), 'listening')),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function seriesOf(name: string, labels: object): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return `${name}{${pairs.join(', ')}}`
}
