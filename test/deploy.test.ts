import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startGateway } from './support/gateway.ts'

const root = resolve(import.meta.dirname, '..')
const execute = promisify(execFile)
const analyze = '/usr/bin/systemd-analyze'

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
