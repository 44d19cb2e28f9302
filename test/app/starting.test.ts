import { type FileHandle, open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { languagesModel, staticModel } from '../../src/app/assets.ts'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { retryStart } from '../../src/app/retry-start.ts'
import { startServer } from '../../src/app/server.ts'
import type { Embedder } from '../../src/search/embedders/embedder.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { listen } from '../../src/transports/shared/listen.ts'
import { run as runCommand, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { publication } from '../support/registry.ts'

/** A start that opens something, and fails so many times after that. */
function failing(times: number, fault: Error) {
  const state = { begun: 0, open: 0 }
  const start = () =>
    retryStart(async (stack) => {
      state.begun++
      state.open++
      stack.defer(() => void state.open--)
      if (state.begun <= times) throw fault
      return stack
    })
  return { state, start }
}

test('a failed start closes the resources that it opened, and reports the reason', async () => {
  const fault = new Failure('invalid_request', 'Not so.')
  const { state, start } = failing(1, fault)
  await expect(start()).rejects.toBe(fault)
  expect(state).toEqual({ begun: 1, open: 0 })
})

test('a start whose store becomes unavailable is repeated with new resources', async () => {
  const { state, start } = failing(2, new Failure('unavailable', 'The store cannot be reached.'))
  await using _ = await start()
  expect(state).toEqual({ begun: 3, open: 1 })
})

test('a start that waits for its store says so once, and ends at a signal with the reason', async () => {
  const fault = new Failure('unavailable', 'The store cannot be reached.')
  const ending = new AbortController()
  const logged: unknown[] = []
  let begun = 0
  const start = retryStart(
    async () => {
      begun++
      if (begun === 3) ending.abort()
      throw fault
    },
    { signal: ending.signal, onWait: (failure) => void logged.push(failure) },
  )
  await expect(start).rejects.toBe(fault)
  expect([begun, logged]).toEqual([3, [fault]])
})

test('a server that cannot serve a REST row names the row and stops listening', async () => {
  await using folder = await temporaryFolder()
  const port = await freePort()
  const config = readConfig({ DRAGOMAN_DATA: folder.path, PORT: String(port), DRAGOMAN_LIVENESS: 'off' })
  await using gateway = await openGateway(config, { log: createLogger('silent') })
  const agents = gateway.agents.filter((agent) => agent.package_name !== 'svc.utility.wiki')
  await expect(startServer({ ...gateway, agents })).rejects.toThrow(
    /^POST \/\S+ names the action \w+, which svc\.utility\.wiki does not have\.$/,
  )
  expect(await listenOnce(port)).toBe(port)
})

function freePort(): Promise<number> {
  return listenOnce(0)
}

/** Listens on a port and stops; rejects if another server listens there. */
async function listenOnce(port: number): Promise<number> {
  await using server = createServer()
  return await listen(server, { host: '127.0.0.1', port, hint: 'Close the other server.' })
}

test('while the index is built, reads are served, searches say what is missing, and the gateway is not ready', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  await (await startGateway(environment))[Symbol.asyncDispose]()
  const { embedder, hold } = await slowEmbedder()
  const release = hold()
  await using home = await startGateway(environment, { static_embedder: embedder, start_wait_ms: 0 })
  // A gateway that closes waits for its embedder.
  using _released = { [Symbol.dispose]: release }
  const ask = () => home.request('POST', '/api/agents/search', { body: { query: 'wikipedia article' } })
  // The words are there, the vectors are not.
  await home.gateway.tailer.ready
  expect(await home.request('GET', '/readyz')).toMatchObject({ status: 503, json: { status: 'not ready' } })
  expect(await home.request('GET', '/public/agents/svc.registry')).toMatchObject({ status: 200 })
  const early = await ask()
  expect(early).toMatchObject({ status: 200, json: { degraded: expect.stringContaining('is starting') } })
  expect(early.json.agents[0].package_name).toBe('svc.utility.wiki')
  const list = () => home.request('GET', '/public/agents?limit=1')
  const refused = await list()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  const status = await home.request('GET', '/public/status')
  expect(status).toMatchObject({ status: 200, json: { status: 'starting', agents: null } })
  release()
  await home.gateway.ready
  expect((await list()).json).not.toHaveProperty('degraded')
  expect((await ask()).json).not.toHaveProperty('degraded')
  expect(await home.request('GET', '/readyz')).toMatchObject({ status: 200 })
})

test('a first start finds the agents that it hosts by their meaning at once', async () => {
  await using home = await startGateway()
  const body = { query: 'turn a web article into plain text' }
  const { json } = await home.request('POST', '/api/agents/search', { body })
  expect(json.agents[0]).toMatchObject({
    package_name: 'svc.utility.reader',
    match: { similarity: expect.any(Number) },
  })
})

test('a search by intent says so while agents that were just added are found by their words alone', async () => {
  const { embedder, hold } = await slowEmbedder()
  await using home = await startGateway({}, { static_embedder: embedder })
  await home.gateway.ready
  const release = hold()
  using _released = { [Symbol.dispose]: release }
  const lines = Array.from({ length: 200 }, (_, at) => {
    const texts = { packageName: `sky-${at}`, name: `Sky ${at}`, description: 'Weather forecasts.' }
    return JSON.stringify({ ...texts, url: `https://example.com/${at}`, runtime: 'node', tools: [] })
  })
  const token = await home.token('root', { scopes: ['admin'] })
  const body = { to: 'svc.registry', action: 'import_entries', params: { lines } }
  const imported = await home.request('POST', '/a2a/message', { body, token })
  expect(imported).toMatchObject({ status: 200, json: { created: 200 } })
  const ask = () => home.request('POST', '/api/agents/search', { body: { query: 'weather forecasts' } })
  expect(await ask()).toMatchObject({ json: { degraded: expect.stringContaining('only by their words') } })
  expect((await home.request('GET', '/public/agents')).json).not.toHaveProperty('degraded')
  // People see it too.
  const page = await fetch(`${home.url}/search?q=weather+forecasts`)
  expect(await page.text()).toContain('only by their words')
  const printed = await runCommand(['search', 'weather', 'forecasts'], { DRAGOMAN_URL: home.url })
  expect(printed.stderr).toContain('only by their words')
  release()
  await home.gateway.vectors.caughtUp(home.gateway.tailer.applied_revision)
  expect((await ask()).json).not.toHaveProperty('degraded')
})

/** Embeds documents only while nothing holds it; the store has no vectors of its model. */
async function slowEmbedder() {
  const inner = await createStaticEmbedder(staticModel, languagesModel)
  let held: Promise<void> | undefined
  const embedder: Embedder = {
    ...inner,
    model: 'slow',
    async embed(texts, as, signal) {
      if (as === 'document') await held
      return inner.embed(texts, as, signal)
    },
  }
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  return { embedder, hold }
}

test('while the index is read from its snapshot, reads by name and writes are served, and searches say so', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  const first = await startGateway(environment)
  const token = await first.token('owner')
  await first.request('POST', '/api/agents/publish', { body: publication('com.example.one'), token })
  await first.request('POST', '/api/agents/com.example.one/go-live', { token })
  await first[Symbol.asyncDispose]()
  // A gateway that stops meanwhile leaves the snapshot as it is.
  {
    await using reads = await holdReads()
    const stopped = await startGateway(environment, { start_wait_ms: 0 })
    const stopping = stopped[Symbol.asyncDispose]()
    reads.release()
    await stopping
  }
  await using reads = await holdReads()
  await using home = await startGateway(environment, { start_wait_ms: 0 })
  using _released = { [Symbol.dispose]: reads.release }
  expect(await home.request('GET', '/readyz')).toMatchObject({ status: 503 })
  expect(await home.request('GET', '/public/agents/com.example.one')).toMatchObject({ status: 200 })
  const ask = () => home.request('GET', '/public/agents?q=com.example.one')
  expect(await ask()).toMatchObject({
    status: 200,
    json: { degraded: expect.stringContaining('is starting') },
  })
  expect(await home.request('GET', '/public/agents')).toMatchObject({ status: 503 })
  const other = publication('com.example.two')
  const written = await home.request('POST', '/api/agents/publish', { body: other, token })
  expect(written).toMatchObject({ status: 201 })
  reads.release()
  await home.gateway.ready
  expect(await home.request('GET', '/readyz')).toMatchObject({ status: 200 })
  const found = await ask()
  expect(found.json).not.toHaveProperty('degraded')
  expect(found.json.agents[0].package_name).toBe('com.example.one')
})

/** Holds all reads of files in this process but those at the beginning of a file, where a snapshot says what it is of. */
async function holdReads() {
  const handle = await open(import.meta.filename)
  const files: FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  const { promise, resolve } = Promise.withResolvers<void>()
  const read = files.read as (...parameters: unknown[]) => Promise<unknown>
  const spy = vi.spyOn(files, 'read').mockImplementation(async function (
    this: FileHandle,
    ...parameters: unknown[]
  ) {
    if (parameters[3] !== 0) await promise
    return (await read.apply(this, parameters)) as never
  } as FileHandle['read'])
  const release = () => {
    spy.mockRestore()
    resolve()
  }
  return { release, [Symbol.asyncDispose]: async () => release() }
}
