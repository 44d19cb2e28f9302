import { type Message, Role } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let home: TestGateway
let token: string
beforeAll(async () => {
  home = await startGateway()
  token = await home.token('caller')
})
afterAll(() => home[Symbol.asyncDispose]())

/** A client of the official SDK that has one transport alone and finds the rest on the card. */
function clientOver(binding: string, path: string) {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
  const transports = [
    binding === 'JSONRPC'
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl }),
  ]
  return new ClientFactory({ ...ClientFactoryOptions.default, transports }).createFromUrl(
    `${home.url}${path}`,
  )
}

function request(content: NonNullable<Message['parts'][number]['content']>) {
  const message: Message = {
    messageId: 'm-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
  return { tenant: '', message, configuration: undefined, metadata: undefined }
}

describe.each(['JSONRPC', 'HTTP+JSON'])('the client of the A2A SDK, over %s', (binding) => {
  test.each(['/', '/a2a/v1/'])('finds the card at "%s" and searches in words', async (path) => {
    const client = await clientOver(binding, path)
    const answer = (await client.sendMessage(request({ $case: 'text', value: 'read a web page' }))) as Message
    expect(answer.role).toBe(Role.ROLE_AGENT)
    const [data, words] = answer.parts
    expect(data?.content).toMatchObject({ $case: 'data', value: { agents: expect.any(Array) } })
    expect(words?.content?.value).toContain('svc.utility.reader')
  })

  test('calls the agent whose card it was given', async () => {
    for (const path of ['/agents/svc.utility.finance/', '/a2a/v1/svc.utility.finance/']) {
      const client = await clientOver(binding, path)
      const call = { action: 'get_current_price', params: { symbol: '..' } }
      // Only the agent itself knows that this is no symbol.
      await expect(client.sendMessage(request({ $case: 'data', value: call }))).rejects.toThrow(
        'is not the symbol of a share',
      )
    }
  })

  test('sends in one piece where it would stream, since the card says that nothing streams', async () => {
    const client = await clientOver(binding, '/')
    const events: { payload?: { $case: string } | undefined }[] = []
    for await (const event of client.sendMessageStream(request({ $case: 'text', value: 'weather' }))) {
      events.push(event)
    }
    expect(events.map(({ payload }) => payload?.$case)).toEqual(['message'])
  })

  test('knows our errors as those of A2A', async () => {
    const client = await clientOver(binding, '/')
    await expect(client.getTask({ tenant: '', id: 'nobody' })).rejects.toBeInstanceOf(TaskNotFoundError)
  })
})
