import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { createRuntime } from '../../src/app/runtime.ts'
import { HealthObserver } from '../../src/app/store-observer.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { publication } from '../support/registry.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { createTime } from '../support/time.ts'

const probeMilliseconds = 10_000

function openLog() {
  const lines: string[] = []
  const log = createLogger('warn', { write: (line: string) => void lines.push(line) })
  const aboutWrites = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('the store'))
  return { log, aboutWrites }
}

test('readyz tells that the disk is full, until the gateway or a caller can write again', async ({
  skip,
}) => {
  await using disk = await mountSmallDisk(8)
  if (!disk) return skip('No small disk can be mounted here.')
  const time = createTime(Date.now())
  const { log, aboutWrites } = openLog()
  await using home = await startGateway({ DRAGOMAN_DATA: join(disk.path, 'data') }, { wait: time.wait, log })
  const token = await home.token('owner')
  let count = 0
  const publish = () =>
    home.request('POST', '/api/agents/publish', {
      body: publication(`com.example.one-${count++}`, { description: `Holds much. ${'x'.repeat(2000)}` }),
      token,
    })
  const readyz = () => home.request('GET', '/readyz')
  async function fill() {
    await disk?.fill()
    while ((await publish()).status === 201);
    expect(await publish()).toMatchObject({ status: 507, json: { code: 'storage_full' } })
    expect(await readyz()).toMatchObject({
      status: 200,
      json: { status: 'degraded', reasons: ['storage_full'] },
    })
  }
  const isReady = async () => expect((await readyz()).json).toMatchObject({ status: 'ready', reasons: [] })

  await isReady()
  await fill()
  await disk.free()
  time.pass(probeMilliseconds)
  await expect.poll(async () => (await readyz()).json.status).toBe('ready')
  await isReady()
  await fill()
  await disk.free()
  expect(await publish()).toMatchObject({ status: 201 })
  await isReady()
  const [refused, accepted] = aboutWrites()
  expect(refused).toMatchObject({ level: 50, reason: 'storage_full', msg: 'the store refuses writes' })
  expect(accepted).toMatchObject({ level: 40, msg: 'the store accepts writes again' })
})

test('a store that refuses writes is probed every ten seconds until it accepts one, or the gateway closes', async () => {
  const time = createTime(0)
  const { log, aboutWrites } = openLog()
  await using stack = new AsyncDisposableStack()
  const runtime = createRuntime(stack, readConfig({}), { wait: time.wait, log })
  const observer = new HealthObserver(runtime, runtime.config)
  const probes: string[] = []
  let isReadOnly = true
  observer.watch({
    settings: {
      get: async () => undefined,
      settle: async (_, value) => value,
      async set(name) {
        probes.push(name)
        if (isReadOnly) throw new Error('attempt to write a readonly database')
      },
    },
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  async function pass() {
    time.pass(probeMilliseconds)
    await turn()
  }

  observer.onWrite(undefined)
  expect(time.waiting()).toBe(0)
  observer.onWrite('read_only')
  observer.onWrite('read_only')
  expect([...runtime.health]).toEqual(['read_only'])
  await pass()
  await pass()
  expect(probes).toEqual(['write_probe', 'write_probe'])
  expect([...runtime.health]).toEqual(['read_only'])
  isReadOnly = false
  await pass()
  expect([...runtime.health]).toEqual([])
  expect(time.waiting()).toBe(0)
  expect(aboutWrites().map(({ msg }) => msg)).toEqual([
    'the store refuses writes',
    'the store accepts writes again',
  ])

  observer.onWrite('storage_full')
  expect(time.waiting()).toBe(1)
  await stack.disposeAsync()
  await turn()
  expect(time.waiting()).toBe(0)
})

test.skipIf(process.platform === 'win32')(
  'a gateway whose database is replaced while it runs refuses writes, and says so until it ends',
  async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    const time = createTime(Date.now())
    const { log, aboutWrites } = openLog()
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path }, { wait: time.wait, log })
    const token = await home.token('owner')
    const publish = (name: string) =>
      home.request('POST', '/api/agents/publish', { body: publication(name), token })
    expect(await publish('com.example.one')).toMatchObject({ status: 201 })
    for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file)
    const reasons = async () => (await home.request('GET', '/readyz')).json.reasons
    await expect.poll(reasons, { timeout: 10_000 }).toEqual(['store_replaced'])
    expect(await publish('com.example.two')).toMatchObject({
      status: 503,
      json: {
        code: 'unavailable',
        detail: 'The files of the store were replaced; the change was not written.',
      },
    })
    time.pass(probeMilliseconds)
    expect(await reasons()).toEqual(['store_replaced'])
    expect(await home.request('GET', '/public/agents/com.example.two')).toMatchObject({ status: 404 })
    expect(aboutWrites()).toMatchObject([{ level: 50, reason: 'store_replaced' }])
  },
)
