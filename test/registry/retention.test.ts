import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { textHashes } from '../../src/registry/indexing/vector-feed.ts'
import { createSweep } from '../../src/registry/retention/sweep.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const marker = 'quokkamarker'
const publication = (name: string, text: string) => ({
  package_name: name,
  name: `${text} agent`,
  description: `Counts ${text} in the wild.`,
  tags: [text],
  capabilities: [{ name: `count_${text}`, description: `Counts the ${text}.` }],
})

/** The files of a folder that contain a text in UTF-8 or UTF-16, or a name with it. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const bytes = await readFile(path)
    if (bytes.includes(text) || bytes.includes(text, 0, 'utf16le')) found.push(path)
  }
  return found
}

async function list(home: TestGateway, token: string, name: string, text: string): Promise<string> {
  const published = await home.request('POST', '/api/agents/publish', {
    token,
    body: publication(name, text),
  })
  expect(published.status).toBe(201)
  await home.request('POST', `/api/agents/${published.json.id}/go-live`, { token })
  return published.json.id
}

test('a purge leaves nothing of an agent in any table, index or snapshot', async () => {
  await using home = await startGateway()
  const token = await home.token('ada')
  const admin = await home.token('root', { scopes: ['admin'] })
  const name = `com.example.${marker}`
  const id = await list(home, token, name, marker)
  await list(home, token, 'com.example.stays', 'wombat')
  const body = { ...publication(name, marker), version: '1.0.1', package_name: undefined }
  expect((await home.request('PUT', `/api/agents/${id}`, { token, body })).status).toBe(200)

  // Answers of calls are kept for a while too: in sessions, tasks and results of repeated calls.
  const session = (await home.request('POST', '/api/playground/session', {})).json
  const look = { agent: 'svc.registry', capability: 'search_agents', input: { query: `count ${marker}` } }
  const step = await home.request('POST', `/api/playground/session/${session.id}/execute`, { body: look })
  expect(step.text).toContain(marker)
  await home.request('POST', `/api/agents/${id}/report`, { token, body: { reason: 'other', detail: marker } })
  const search = async () =>
    (await home.request('POST', '/api/agents/search', { body: { query: `count ${marker}` } })).json
  expect(JSON.stringify(await search())).toContain(marker)
  expect(await filesWith(home.data, marker)).not.toEqual([])

  const purge = (by: string) =>
    home.request('POST', `/api/agents/${id}/purge`, { token: by, body: { reason: 'A court asked.' } })
  expect((await purge(token)).status).toBe(403)
  expect(await purge(admin)).toMatchObject({ status: 200, json: { id } })

  expect(await filesWith(home.data, marker)).toEqual([])
  expect(JSON.stringify(await search())).not.toContain(marker)
  expect((await home.request('GET', `/api/agents/${id}`, { token: admin })).status).toBe(404)
  const { json } = await home.request('GET', '/public/changes?since=0')
  expect(JSON.stringify(json)).not.toContain(marker)
  expect((await purge(admin)).status).toBe(404)
  const log = (by: string) => home.request('GET', `/api/agents/${id}/audit`, { token: by })
  expect((await log(admin)).json).toMatchObject({
    events: [{ action: 'purge', reason: 'A court asked.', before: null, after: null }],
    next_cursor: null,
  })
  expect((await log(token)).status).toBe(404)
  expect(JSON.stringify((await home.request('GET', '/public/agents/com.example.stays')).json)).toContain(
    'wombat',
  )
  // The name is free again.
  await list(home, await home.token('eve'), name, 'numbat')
})

test('a hosted agent is not purged', async () => {
  await using home = await startGateway()
  const token = await home.token('root', { scopes: ['admin'] })
  const path = '/api/agents/svc.utility.wiki/purge'
  const { status, json } = await home.request('POST', path, { token, body: { reason: 'No more.' } })
  expect([status, json.code]).toEqual([409, 'hosted_agent'])
})

test('a person gets a copy of their data, and its deletion leaves their name nowhere', async () => {
  const person = 'ada-quokkaperson'
  await using home = await startGateway()
  const token = await home.token(person)
  const id = await list(home, token, 'com.example.counter', 'wombat')
  await home.request('POST', '/api/keys', { token, body: { label: `${person} laptop` } })
  await home.request('POST', '/api/playground/session', { token })
  await home.request('POST', '/api/agents/svc.utility.wiki/report', { token, body: { reason: 'other' } })
  const rows = async (table: string) =>
    (await home.request('GET', `/api/personal-data?table=${table}`, { token })).json
  expect(await rows('entries')).toMatchObject({ total: 1, rows: [{ id }], next_cursor: null })
  expect((await rows('audit')).total).toBeGreaterThanOrEqual(3)
  expect(await rows('api_keys')).toMatchObject({ rows: [{ label: `${person} laptop` }] })
  expect((await rows('sessions')).total).toBe(1)

  const eve = await home.token('eve')
  const ofOthers = await home.request('GET', `/api/personal-data?subject=${person}`, { token: eve })
  expect([ofOthers.status, ofOthers.json.code]).toEqual([403, 'forbidden'])

  const remove = (body: object) => home.request('POST', '/api/personal-data/delete', { token, body })
  expect((await remove({})).status).toBe(400)
  const { status, json } = await remove({ confirm: true })
  expect([status, json.deleted_agents]).toEqual([200, 1])
  expect((await home.request('GET', `/api/agents/${id}`)).status).toBe(404)

  const admin = await home.token('root', { scopes: ['admin'] })
  const { events } = (await home.request('GET', `/api/agents/${id}/audit`, { token: admin })).json
  expect(events.map((event: { actor: { subject: string } }) => event.actor.subject)).toEqual(
    events.map(() => json.pseudonym),
  )
  for (const table of ['entries', 'audit', 'api_keys', 'sessions', 'tasks', 'credentials', 'webhooks']) {
    expect(await rows(table)).toMatchObject({ total: 0 })
  }
  expect(await filesWith(home.data, person)).toEqual([])
})

test('a key that may only read deletes neither the agents of its owner nor anything else', async () => {
  await using home = await startGateway()
  const token = await home.token('ada')
  const id = await list(home, token, 'com.example.kept', 'wombat')
  const { key } = (
    await home.request('POST', '/api/keys', { token, body: { scopes: ['agents:read', 'a2a:call'] } })
  ).json
  const body = { confirm: true }
  const { status, json } = await home.request('POST', '/api/personal-data/delete', { token: key, body })
  expect([status, json]).toMatchObject([403, { scope: 'agents:write' }])
  expect((await home.request('GET', `/api/agents/${id}`)).status).toBe(200)
})

test('the limits that an admin has set for a person outlive the deletion of their data', async () => {
  await using home = await startGateway()
  const [token, admin] = [await home.token('mallory'), await home.token('root', { scopes: ['admin'] })]
  const limit = { subject: 'mallory', quota: 'entries', limit: 0 }
  await home.request('PUT', '/api/quotas', { token: admin, body: limit })
  await home.request('POST', '/api/personal-data/delete', { token, body: { confirm: true } })
  const published = await home.request('POST', '/api/agents/publish', {
    token,
    body: publication('com.example.back', 'returns'),
  })
  expect(published.json).toMatchObject({ code: 'quota_exceeded', quota: { limit: 0 } })
})

/** What `dragoman serve` keeps, and audit events without an end. */
const retention = {
  versions: 365,
  max_versions: 100,
  audit: 999_999_999_999_999,
  max_audit: 1000,
  changes: 90,
  deleted: 365,
  liveness: 90,
}

test('a sweep whose gateway stops ends between two pages, and is due again', async () => {
  await using home = await startGateway()
  const { store } = home.gateway
  const stop = new AbortController()
  const pages: number[] = []
  const stopping = {
    ...store,
    async changes(...page: Parameters<typeof store.changes>) {
      pages.push(page[0])
      stop.abort()
      return await store.changes(...page)
    },
  }
  const pruned: object[] = []
  const clock = () => Date.now()
  const sweep = createSweep({
    store: stopping,
    clock,
    retention,
    isReplaced: () => false,
    onPruned: (counts) => pruned.push(counts),
  })
  await expect(sweep.run(stop.signal)).rejects.toMatchObject({ name: 'AbortError' })
  expect([pages, pruned]).toEqual([[0], []])
  expect(await sweep.isDue()).toBe(true)
})

test('the sweep removes the vectors of an earlier table of the built-in model, and those of no other model', async () => {
  await using home = await startGateway()
  await home.gateway.ready
  const { store, sweep, vectors } = home.gateway
  const { model } = vectors.progress()
  const entry = await store.read.entry({ package_name: 'svc.utility.wiki' })
  const [hash = ''] = entry ? textHashes(entry) : []
  const [earlier, other] = [model.replace(/:.*/, ':0123456789ab'), 'http:other:1']
  for (const name of [model, earlier, other])
    await store.embeddings.keep(name, new Map([[hash, new Float32Array([1])]]))
  await sweep.run()
  const isKept = async (name: string) => (await store.embeddings.find(name, [hash])).size === 1
  expect([await isKept(model), await isKept(earlier), await isKept(other)]).toEqual([true, false, true])
})

test('the sweep runs once a day and removes vectors of texts that nobody uses', async () => {
  await using home = await startGateway()
  const token = await home.token('ada')
  const { store } = home.gateway
  let now = Date.now()
  const pruned: object[] = []
  const sweep = createSweep({
    store,
    clock: () => now,
    retention,
    isReplaced: () => false,
    onPruned: (counts) => pruned.push(counts),
  })
  const id = await list(home, token, 'com.example.counter', 'wombat')
  await home.gateway.ready
  expect(await sweep.isDue()).toBe(true)
  await sweep.run()
  expect(pruned).toEqual([{ versions: 0, audit: 0, changes: 0, deleted: 0, liveness: 0, embeddings: 0 }])
  expect(await sweep.isDue()).toBe(false)

  const body = { ...publication('', 'numbat'), package_name: undefined }
  await home.request('PUT', `/api/agents/${id}`, { token, body })
  now += 100 * 24 * 3_600_000
  expect(await sweep.isDue()).toBe(true)
  expect(await sweep.run()).toBeGreaterThan(0)
  expect(pruned[1]).toMatchObject({ versions: 0, audit: 0, deleted: 0, changes: 2 })
  const { json } = await home.request('GET', '/public/changes?since=0')
  expect(json.changes.map((change: { package_name: string }) => change.package_name)).toContain(
    'com.example.counter',
  )
  const found = await home.request('POST', '/api/agents/search', { body: { query: 'count numbat' } })
  expect(JSON.stringify(found.json)).toContain('com.example.counter')
})

test('the page on retention says for every table what bounds it', async () => {
  await using home = await startGateway()
  const database = new DatabaseSync(join(home.data, 'registry.sqlite'), { readOnly: true })
  const tables = database
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'kysely%'`)
    .all()
    .map(({ name }) => String(name))
  database.close()
  const page = await readFile(join(import.meta.dirname, '../../docs/retention.md'), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| `/.test(line))
  const listed = rows.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(listed.toSorted()).toEqual(tables.toSorted())
})
