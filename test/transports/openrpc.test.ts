import { afterAll, describe, expect, test } from 'vitest'
import { codes } from '../../schemas/failure.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket } from '../support/socket.ts'

interface Method {
  readonly name: string
  readonly paramStructure: string
  readonly params: { name: string; required?: boolean; schema: object }[]
  readonly result: { schema: object }
  readonly errors: { $ref: string }[]
}
interface Document {
  readonly openrpc: string
  readonly info: { title: string; version: string }
  readonly servers: { url: string }[]
  readonly methods: Method[]
  readonly components: {
    schemas: Record<string, object>
    errors: Record<string, { code: number; message: string; data: { code: string } }>
  }
}

const rpc = async (method: string, params?: object) => {
  const body = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }
  return (await home.request('POST', '/rpc', { body })).json
}

const home = await startGateway()
const document: Document = (await rpc('rpc.discover')).result
afterAll(() => home[Symbol.asyncDispose]())

describe('rpc.discover', () => {
  test('describes every action of every agent, and the envelope', () => {
    expect(document).toMatchObject({ openrpc: '1.3.2', info: { title: 'Dragoman' } })
    expect(document.servers.map(({ url }) => url)).toEqual([
      `${home.url}/rpc`,
      `${home.url.replace('http', 'ws')}/rpc`,
    ])
    const actions = home.gateway.agents.flatMap((agent) => agent.actions)
    expect(document.methods).toHaveLength(actions.length + 1)
    const names = document.methods.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['registry.search_agents', 'registry.verify', 'message.send']),
    )
    expect(new Set(names).size).toBe(names.length)
    for (const { paramStructure, result } of document.methods) {
      expect(paramStructure).toBe('by-name')
      expect(result.schema).toBeTypeOf('object')
    }
  })

  test('states the very params that a method takes: each that is required is missed, and no other is known', async () => {
    for (const { name, params } of document.methods) {
      const { error } = await rpc(name, { no_such_param: 1 })
      if (error?.data.code === 'unauthenticated' || error?.data.code === 'forbidden') continue
      const errors: { pointer: string; detail: string }[] = error?.data.errors ?? []
      const missed = errors.filter(({ detail }) => detail === 'This field is required.')
      expect(missed.map(({ pointer }) => pointer.slice(1)).sort(), name).toEqual(
        params
          .filter(({ required }) => required)
          .map((parameter) => parameter.name)
          .sort(),
      )
      expect(
        errors.map(({ pointer }) => pointer),
        name,
      ).toContain('/no_such_param')
    }
  })

  test('lists each failure with its number, and every reference leads somewhere', () => {
    expect(Object.keys(document.components.errors)).toEqual(Object.keys(codes))
    expect(document.components.errors.not_found).toMatchObject({
      code: codes.not_found.rpc,
      data: { code: 'not_found' },
    })
    for (const { $ref } of document.methods.flatMap(({ errors }) => errors)) {
      expect(document.components.errors).toHaveProperty($ref.replace('#/components/errors/', ''))
    }
  })

  test('states a schema that several answers share once, and every reference to one leads somewhere', () => {
    const text = JSON.stringify(document)
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)
    expect(references).toContain('Liveness')
    for (const name of references) expect(document.components.schemas).toHaveProperty(name)
    expect(text).not.toContain('$defs')
    expect(text.length).toBeLessThan(400_000)
  })

  test('is the same over a WebSocket, needs no params, and is proposed for what is close to it', async () => {
    await using peer = await openSocket(`${home.url}/rpc`, [])
    peer.send({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: {} })
    expect(await peer.answer(1)).toMatchObject({ result: document })
    expect((await rpc('rpc.discove')).error.data.nearest).toEqual(['rpc.discover'])
  })
})

test('each rpc.discover counts as a read of its caller, each member of a batch too', async () => {
  await using limited = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock: () => 1_800_000_000_000 })
  // Notifications, so that the answers cost nothing.
  const body = Array.from({ length: 50 }, () => ({ jsonrpc: '2.0', method: 'rpc.discover' }))
  for (let sent = 0; sent < 600; sent += body.length) {
    expect((await limited.request('POST', '/rpc', { body })).status).toBe(204)
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'rpc.discover' }
  const { json } = await limited.request('POST', '/rpc', { body: request })
  expect(json.error.data.code).toBe('rate_limited')
})
