import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { embeddingServer } from '../support/embedding-server.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const umbrella = {
  package_name: 'com.example.sky',
  name: 'Sky',
  description: 'Weather forecasts: will it rain or shine?',
  endpoints: [{ protocol: 'a2a', url: 'https://sky.example.com/a2a' }],
}

async function publish(home: TestGateway, body: object = umbrella): Promise<void> {
  const token = await home.token('ada')
  expect((await home.request('POST', '/api/agents/publish', { body, token })).status).toBe(201)
  const { package_name } = body as { package_name: string }
  expect((await home.request('POST', `/api/agents/${package_name}/go-live`, { token })).status).toBe(200)
}

async function find(home: TestGateway, query: string, more: object = {}) {
  const { json } = await home.request('POST', '/api/agents/search', { body: { query, limit: 20, ...more } })
  return json
}

const names = (found: { agents: { package_name: string }[] }) =>
  found.agents.map((agent) => agent.package_name)

test.each(['memory', 'lance'])(
  'an agent is found by its meaning as soon as it is live, and after a start, with vectors in %s',
  async (where) => {
    await using folder = await temporaryFolder()
    const settings = { DRAGOMAN_VECTORS: where, DRAGOMAN_DATA: folder.path }
    {
      await using home = await startGateway(settings)
      await publish(home)
      const found = await find(home, 'clouds over my garden')
      expect(names(found)[0]).toBe('com.example.sky')
      expect(found.agents[0].match).toMatchObject({ terms: [], similarity: expect.any(Number) })
    }
    await using home = await startGateway(settings)
    await home.gateway.ready
    expect(names(await find(home, 'clouds over my garden'))[0]).toBe('com.example.sky')
    expect(home.gateway.vectors.progress().embedded).toBe(0)
  },
  60_000,
)

test('the files of a model that another one has replaced are removed', async () => {
  await using folder = await temporaryFolder()
  const settings = { DRAGOMAN_DATA: folder.path }
  await (await startGateway(settings))[Symbol.asyncDispose]()
  const [index, onDisk] = [join(folder.path, 'index'), join(folder.path, 'vectors')]
  const own = (await readdir(index)).toSorted()
  expect(own).toContainEqual(expect.stringMatching(/^vectors-/))
  await writeFile(join(index, 'vectors-0123456789ab'), 'x')
  await writeFile(join(index, 'vectors-0123456789ab.0e7c.0'), 'x')
  await mkdir(join(onDisk, '0123456789ab'), { recursive: true })
  {
    await using home = await startGateway(settings)
    await home.gateway.ready
    await expect
      .poll(async () => [await readdir(onDisk), (await readdir(index)).toSorted()])
      .toEqual([[], own])
  }
})

test('readiness says which model serves and how far it is', async () => {
  await using home = await startGateway()
  await home.gateway.ready
  const { json } = await home.request('GET', '/readyz')
  expect(json.meaning).toMatchObject({
    model: expect.stringMatching(/^dragoman-static-256:/),
    applied_revision: json.revision,
  })
})

test('a page ends where its budget does, and the next one goes on from there', async () => {
  await using home = await startGateway()
  for (const number of [1, 2, 3, 4, 5]) {
    await publish(home, { ...umbrella, package_name: `com.example.sky${number}`, name: `Sky ${number}` })
  }
  const all = names(await find(home, 'rain'))
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await find(home, 'rain', { max_tokens: 400, ...(cursor && { cursor }) })
    expect(page.agents.length).toBeGreaterThan(0)
    expect(page.agents.length).toBeLessThan(4)
    seen.push(...names(page))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && seen.length <= all.length)
  expect(seen).toEqual(all)
})

test('agents below the minimum score are left out, and a note says if none fits', async () => {
  await using home = await startGateway()
  await publish(home)
  const all = await find(home, 'weather')
  const best = all.agents[0].score
  expect(names(await find(home, 'weather', { min_score: Math.floor(best * 100) / 100 }))).toEqual([
    'com.example.sky',
  ])
  expect(await find(home, 'zzzqqq xyzzy')).toMatchObject({
    agents: [],
    total: 0,
    next_cursor: null,
    notice: expect.stringMatching(/No agent fits/),
  })
})

// The last of these starts is retried for 15 seconds.
test.concurrent.each([
  [
    'transformers without a folder',
    { DRAGOMAN_EMBEDDER: 'transformers' },
    'not_configured',
    /DRAGOMAN_MODEL/,
  ],
  [
    'transformers with a folder that is not there',
    { DRAGOMAN_EMBEDDER: 'transformers', DRAGOMAN_MODEL: '/nowhere' },
    'not_configured',
    /nowhere/,
  ],
  [
    'http without an address',
    { DRAGOMAN_EMBEDDER: 'http', DRAGOMAN_MODEL: 'm' },
    'not_configured',
    /DRAGOMAN_EMBEDDINGS_URL/,
  ],
  [
    'http where nobody answers',
    { DRAGOMAN_EMBEDDER: 'http', DRAGOMAN_MODEL: 'm', DRAGOMAN_EMBEDDINGS_URL: 'http://127.0.0.1:1/v1' },
    'unavailable',
    /127\.0\.0\.1/,
  ],
])(
  'a gateway does not start by %s, and says why',
  async (_, settings, code, message) => {
    const started = startGateway(settings as Record<string, string>)
    await expect(started).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  },
  30_000,
)

test('a remote model embeds each text once and serves once it knows every entry', async () => {
  await using model = await embeddingServer()
  await using folder = await temporaryFolder()
  const settings = {
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_EMBEDDER: 'http',
    DRAGOMAN_MODEL: 'm',
    DRAGOMAN_EMBEDDINGS_URL: model.url,
  }
  {
    await using home = await startGateway(settings)
    await expect.poll(() => home.gateway.vectors.progress().model, { timeout: 10_000 }).toBe('http:m:4')
    await publish(home)
    const found = await find(home, 'an umbrella, please')
    expect(found.agents[0]).toMatchObject({
      package_name: 'com.example.sky',
      match: { similarity: expect.closeTo(1, 1) },
    })
  }
  const before = model.embedded.length
  await using home = await startGateway(settings)
  await home.gateway.ready
  expect(home.gateway.vectors.progress()).toMatchObject({ model: 'http:m:4', embedded: 0 })
  // One request at the start learns the dimensions.
  expect(model.embedded.length).toBeLessThanOrEqual(before + 1)
}, 30_000)

test('damaged files of the index are made again, and the answers stay the same', async () => {
  await using folder = await temporaryFolder()
  const settings = { DRAGOMAN_DATA: folder.path }
  let right: unknown
  {
    await using home = await startGateway(settings)
    await publish(home)
    right = await find(home, 'clouds over my garden')
  }
  await mkdir(join(folder.path, 'index'), { recursive: true })
  await writeFile(join(folder.path, 'index', 'words'), 'not an index')
  await using home = await startGateway(settings)
  expect(names(await find(home, 'clouds over my garden'))).toEqual(
    names(right as Awaited<ReturnType<typeof find>>),
  )
})
