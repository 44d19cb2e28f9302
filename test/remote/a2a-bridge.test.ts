import { type Message, SendMessageRequest, Task } from '@a2a-js/sdk'
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import type { Task as LegacyTask } from 'a2a-sdk-0.3'
import {
  ClientFactory as LegacyFactory,
  JsonRpcTransportFactory as LegacyJsonRpc,
  ClientFactoryOptions as LegacyOptions,
} from 'a2a-sdk-0.3/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { type McpServer, startModernServer, startSessionServer } from '../support/mcp-servers.ts'

const servers: readonly (readonly [string, () => Promise<McpServer>])[] = [
  ['2026-07-28', startModernServer],
  ['2025, with sessions', startSessionServer],
]

describe.each(servers)('an MCP server of %s, as an A2A agent', (_, start) => {
  const to = 'com.example.tools'
  let server: McpServer
  let gateway: TestGateway
  let authorised: typeof fetch

  beforeAll(async () => {
    server = await start()
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
    const capabilities = [
      { name: 'echo', description: 'Answers its arguments.', read_only: true },
      { name: 'work', description: 'Tells of its progress.' },
      { name: 'fail', description: 'Fails.' },
    ]
    await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: server.url }], capabilities })
    const token = await gateway.token('ada')
    authorised = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('Authorization', `Bearer ${token}`)
      return fetch(input, { ...init, headers })
    }
  })

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const request = (skillId: string, data: object) =>
    SendMessageRequest.fromJSON({
      message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data }], metadata: { skillId } },
    })

  test.each([
    ['JSONRPC', JsonRpcTransportFactory],
    ['HTTP+JSON', RestTransportFactory],
  ] as const)('is found by its card and called by the client of the A2A SDK, over %s', async (_, Factory) => {
    const transports = [new Factory({ fetchImpl: authorised })]
    const client = await new ClientFactory({ transports }).createFromUrl(`${gateway.url}/a2a/v1/${to}/`)
    expect((await client.getAgentCard()).skills.map((skill) => skill.id)).toEqual(['echo', 'work', 'fail'])
    const done = Task.toJSON((await client.sendMessage(request('echo', { city: 'Oslo' }))) as Task)
    expect(done).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { city: 'Oslo' } }] }],
    })
    const failure = Task.toJSON((await client.sendMessage(request('fail', {}))) as Task)
    expect(failure).toMatchObject({
      status: {
        state: 'TASK_STATE_FAILED',
        message: { parts: [{ text: 'The agent says: The moon is full.' }, {}] },
      },
    })
    const states: string[] = []
    for await (const { payload } of client.sendMessageStream(request('work', {}))) {
      if (payload?.$case === 'statusUpdate') {
        states.push(
          ...((payload.value.status?.message as Message | undefined)?.parts.map(({ content }) =>
            content?.$case === 'text' ? content.value : '',
          ) ?? []),
        )
      }
    }
    expect(states).toContain('half')
  })

  test('gets the params of the skill that the message names, one called action among them', async () => {
    const transports = [new RestTransportFactory({ fetchImpl: authorised })]
    const client = await new ClientFactory({ transports }).createFromUrl(`${gateway.url}/a2a/v1/${to}/`)
    for (const params of [
      { action: 'fail' },
      { action: 'fail', params: {} },
      { action: 'move', to: 'Oslo' },
    ]) {
      const task = Task.toJSON((await client.sendMessage(request('echo', params))) as Task)
      expect(task).toMatchObject({ artifacts: [{ parts: [{ data: params }] }] })
    }
  })

  test('is called by the client of A2A 0.3', async () => {
    const factory = new LegacyFactory(
      LegacyOptions.createFrom(LegacyOptions.default, {
        transports: [new LegacyJsonRpc({ fetchImpl: authorised })],
      }),
    )
    const client = await factory.createFromUrl(`${gateway.url}/a2a/v1/${to}/`)
    const task = (await client.sendMessage({
      message: {
        kind: 'message',
        messageId: 'm-1',
        role: 'user',
        parts: [{ kind: 'data', data: { city: 'Oslo' } }],
        metadata: { skillId: 'echo' },
      },
    })) as LegacyTask
    expect(task.status.state).toBe('completed')
    expect(task.artifacts?.[0]?.parts).toMatchObject([{ kind: 'data', data: { city: 'Oslo' } }])
  })
})
