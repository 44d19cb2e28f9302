import { afterAll, describe, expect, test } from 'vitest'
import { a2aCodes, a2aErrors } from '../../schemas/a2a-codes.ts'
import { a2aVersion, dataMessage, message } from '../support/a2a.ts'
import { startGateway } from '../support/gateway.ts'
import { type A2aRequest, atOnce, call, cases, search, send } from './a2a-cases.ts'
import { publication } from './cases.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

/** An error in the form of both bindings. */
interface TaskUpdate {
  readonly http: number
  readonly type: string | null
  readonly reason: string
  readonly domain: string
  /** JSON-RPC's number; over HTTP the status, which is in the body too. */
  readonly code: number
  readonly details: Record<string, unknown>[]
}

/** The same requests over both bindings. */
const bindings = {
  JSONRPC: ({ method = 'SendMessage', params = search, headers = a2aVersion, token, body }: A2aRequest) =>
    home.request('POST', '/a2a/v1', {
      body: body ?? { jsonrpc: '2.0', id: 'mine', method, params },
      headers: headers as Record<string, string>,
      token,
    }),
  'HTTP+JSON': ({ rest = send, params = search, headers = a2aVersion, token, body }: A2aRequest) =>
    home.request(rest[0], `/a2a/v1/${rest[1]}`, {
      ...(rest[0] === 'POST' && { body: body ?? params }),
      headers: headers as Record<string, string>,
      token,
    }),
}
type Binding = keyof typeof bindings

async function errorOf(binding: Binding, request: A2aRequest): Promise<TaskUpdate> {
  const { status, headers, json } = await bindings[binding](request)
  const details = binding === 'JSONRPC' ? json.error.data : json.error.details
  const [{ reason, domain }] = details
  const type = headers.get('content-type')
  return { http: status, type, code: json.error.code, details, reason, domain }
}

const ownDomain = (reason: string) => (reason in a2aErrors ? 'a2a-protocol.org' : 'urn:dragoman:problem')

describe.each(Object.keys(bindings) as Binding[])('A2A 1.0 over %s', (binding) => {
  test.each(cases)('refuses $name', async ({ reason, rpc, http, rpcHttp = 200, ...request }) => {
    const refused = await errorOf(binding, request)
    const byRpc = binding === 'JSONRPC'
    expect(refused).toMatchObject({
      reason,
      domain: ownDomain(reason),
      code: byRpc ? rpc : http,
      http: byRpc ? rpcHttp : http,
      type: byRpc ? 'application/json' : 'application/a2a+json',
    })
    for (const detail of refused.details) expect(detail['@type']).toMatch(/^type\.googleapis\.com\/google\./)
  })

  test('answers a search in words with the agents as data, and their names in words', async () => {
    const { status, json } = await bindings[binding]({})
    expect(status).toBe(200)
    const answer = binding === 'JSONRPC' ? json.result.message : json.message
    expect(answer).toMatchObject({
      role: 'ROLE_AGENT',
      messageId: expect.any(String),
      contextId: expect.any(String),
    })
    const [data, words, ...more] = answer.parts
    expect(data).toMatchObject({ mediaType: 'application/json', data: { agents: expect.any(Array) } })
    expect(data.data.agents.map((agent: { package_name: string }) => agent.package_name)).toContain(
      'svc.utility.reader',
    )
    expect(words.text).toContain('(svc.utility.reader)')
    expect(more).toEqual([])
  })

  test('answers data to the tenant, in the context of the request', async () => {
    const params = {
      ...message([{ text: 'Please.' }, { data: { action: 'get_card' } }], { contextId: 'ours' }),
      tenant: 'custom.svc.registry',
      configuration: { acceptedOutputModes: ['application/json'] },
      extra: 'ignored, as section 5.7 asks',
    }
    const { json } = await bindings[binding]({ params, headers: { 'A2A-Version': '1.0.1' } })
    const answer = binding === 'JSONRPC' ? json.result.message : json.message
    expect(answer.contextId).toBe('ours')
    expect(answer.parts).toHaveLength(1)
    expect(answer.parts[0].data.agent_id).toBe('custom.svc.registry')
  })

  test('names the invalid field and a hint, with the problem details of every transport', async () => {
    const { details } = await errorOf(binding, { params: call('search', { query: 'x', limt: 3 }) })
    expect(details).toMatchObject([
      { reason: 'INVALID_REQUEST', metadata: { code: 'invalid_request', requestId: expect.any(String) } },
      { fieldViolations: [{ field: '/limt', description: 'There is no such field.' }] },
      { value: { code: 'invalid_request', nearest: ['limit'] } },
    ])
  })

  test('challenges a caller without a token', async () => {
    const { headers } = await bindings[binding]({ params: call('publish') })
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="dragoman"/)
  })

  test('activates the extension that cards declare, and no other', async () => {
    const asking = async (uris: string) =>
      (await bindings[binding]({ headers: { ...a2aVersion, 'A2A-Extensions': uris } })).headers.get(
        'a2a-extensions',
      )
    expect(await asking('https://example.com/ext/v1')).toBe(null)
    const declared = 'urn:dragoman:registry:1'
    expect(await asking(`https://example.com/ext/v1, ${declared}`)).toBe(declared)
  })

  test('makes a task for returnImmediately, and answers with it', async () => {
    const { json } = await bindings[binding]({ params: atOnce(search) })
    const { task } = binding === 'JSONRPC' ? json.result : json
    expect(task).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}$/), contextId: expect.any(String) })
    const request = {
      method: 'SubscribeToTask',
      rest: ['GET', `tasks/${task.id}:subscribe`] as const,
      params: task,
    }
    // Whether it is over by now or not, then it is.
    await bindings[binding](request)
    const shown = await bindings[binding]({
      method: 'GetTask',
      rest: ['GET', `tasks/${task.id}`],
      params: { id: task.id, history_length: 0 },
    })
    const { status, artifacts } = binding === 'JSONRPC' ? shown.json.result : shown.json
    expect(status.state).toBe('TASK_STATE_COMPLETED')
    expect(artifacts).toMatchObject([
      {
        artifactId: 'output',
        name: 'search',
        parts: [{ data: { agents: expect.any(Array) } }, { text: expect.any(String) }],
      },
    ])
  })

  test('gives a caller the card with all that they may call, signed', async () => {
    const request = {
      method: 'GetExtendedAgentCard',
      rest: ['GET', 'extendedAgentCard'],
      params: {},
    } as const
    const skills = async (token: string) => {
      const { json } = await bindings[binding]({ ...request, token })
      const card = binding === 'JSONRPC' ? json.result : json
      expect(card.signatures.length).toBeGreaterThan(0)
      return card.skills.map(({ id }: { id: string }) => id)
    }
    const reader = await skills(await home.token('reader', { scopes: ['agents:read'] }))
    expect(reader).toEqual(expect.arrayContaining(['search_agents', 'get_agent', 'list_keys']))
    expect(reader).not.toContain('publish')
    expect(await skills(await home.token('publisher'))).toContain('publish')
  })
})

describe('an agent that a tenant names', () => {
  const names = async (path: string, token: string) => {
    const { json } = await home.request('GET', `/a2a/v1/${path}`, { token, headers: a2aVersion })
    return json.tasks.map(({ id }: { id: string }) => id)
  }

  test('has a list of its own tasks, in the path, in the params and in the URL', async () => {
    const token = await home.token('lister')
    const begin = async (tenant: string, data: object) => {
      const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] }, configuration }
      const { json } = await home.request('POST', `/a2a/v1/${tenant}message:send`, { token, body, headers })
      return json.task.id
    }
    const configuration = { returnImmediately: true }
    const headers = { ...a2aVersion, 'Content-Type': 'application/a2a+json' }
    const ofRegistry = await begin('', { action: 'get_card', params: {} })
    const ofWiki = await begin('custom.svc.utility.wiki/', { action: 'search_page', params: { query: 'x' } })
    expect((await names('tasks', token)).toSorted()).toEqual([ofRegistry, ofWiki].toSorted())
    expect(await names('svc.utility.wiki/tasks', token)).toEqual([ofWiki])
    expect(await names('svc.registry/tasks', token)).toEqual([ofRegistry])
    expect(await names('svc.utility.reader/tasks', token)).toEqual([])
    for (const [path, params] of [
      ['/a2a/v1', { tenant: 'svc.utility.wiki' }],
      ['/a2a/v1?tenant=svc.utility.wiki', {}],
      ['/a2a/v1/svc.utility.wiki', { tenant: '' }],
      ['/a2a/v1/svc.utility.wiki', { tenant: 'svc.utility.wiki' }],
    ] as const) {
      const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params }
      const { json } = await home.request('POST', path, { token, body, headers: a2aVersion })
      expect([json.result.totalSize, json.result.tasks[0].id]).toEqual([1, ofWiki])
    }
  })

  test('may have the slash of its name in every path, encoded or not, with the same answers and errors', async () => {
    const token = await home.token('slashes', { namespaces: ['io.github.slashes'] })
    const { json } = await home.request('POST', '/api/agents/publish', {
      token,
      body: publication('io.github.slashes/thing'),
    })
    await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
    const answersOf = async (name: string) => {
      const get = async (path: string) => {
        const { status, json } = await home.request('GET', path, { token, headers: a2aVersion })
        return [status, json.name ?? json.tasks ?? json.error?.status ?? json.code]
      }
      const body = dataMessage({ action: 'no_action', params: {} })
      const sent = await home.request('POST', `/a2a/v1/${name}/message:send`, {
        token,
        body,
        headers: a2aVersion,
      })
      const wrong = await home.request('POST', `/a2a/v1/${name}/tasks`, { token, body, headers: a2aVersion })
      const tasks = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
      const rpc = await home.request('POST', `/a2a/v1/${name}`, { token, body: tasks, headers: a2aVersion })
      return [
        await get(`/a2a/v1/${name}/.well-known/agent-card.json`),
        await get(`/agents/${name}/.well-known/agent-card.json`),
        await get(`/mcp/agents/${name}/server-card`),
        await get(`/a2a/v1/${name}/tasks`),
        await get(`/a2a/v1/${name}/tasks/none`),
        await get(`/a2a/v1/${name}/nothing`),
        [sent.status, sent.json.error.message],
        [rpc.status, rpc.json.result?.tasks],
        [wrong.status, wrong.headers.get('allow')],
      ]
    }
    const plain = await answersOf('io.github.slashes/thing')
    expect(plain).toEqual(await answersOf('io.github.slashes%2Fthing'))
    expect(plain.map(([status]) => status)).toEqual([200, 200, 200, 200, 404, 404, 409, 200, 405])
    const nobody = await answersOf('io.github.slashes/nobody')
    expect(nobody).toEqual(await answersOf('io.github.slashes%2Fnobody'))
    expect(nobody.slice(0, 3)).toEqual(Array(3).fill([404, 'not_found']))
  })

  test('has no extended card if it is listed, as its card says, and is not there if nobody knows it', async () => {
    const token = await home.token('reader-of-cards', { namespaces: ['com.extended'] })
    const listed = publication('com.extended.agent')
    const { json } = await home.request('POST', '/api/agents/publish', { token, body: listed })
    await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
    const ask = async (path: string) =>
      (await home.request('GET', `/a2a/v1/${path}`, { token, headers: a2aVersion })).json
    const card = await ask('com.extended.agent/.well-known/agent-card.json')
    expect(card.capabilities.extendedAgentCard).toBe(false)
    const reasonOf = async (tenant: string) =>
      (await ask(`${tenant}/extendedAgentCard`)).error.details[0].reason
    expect(await reasonOf('com.extended.agent')).toBe('UNSUPPORTED_OPERATION')
    expect(await reasonOf('com.extended.nobody')).toBe('NOT_FOUND')
  })
})

describe('the frames of JSON-RPC', () => {
  const post = (body: string) =>
    home.request('POST', '/a2a/v1', { body, headers: { ...a2aVersion, 'Content-Type': 'application/json' } })

  test.each(['"a"', '""', '0', '-1', '1.5', 'null', '"é☃"'])('echo the id %s exactly', async (id) => {
    const text = JSON.stringify(search)
    const accepted = await post(`{"jsonrpc":"2.0","id":${id},"method":"SendMessage","params":${text}}`)
    expect(accepted.text).toContain(`"id":${id},"result"`)
    const refused = await post(`{"jsonrpc":"2.0","id":${id},"method":"GetTask","params":{"id":"t"}}`)
    expect(refused.text).toContain(`"id":${id},"error"`)
  })

  test.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a batch', '[]', -32600],
    ['another version', '{"jsonrpc":"1.0","method":"SendMessage"}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"SendMessage"}', -32600],
  ])('%s is answered with id null and its number', async (_, text, code) => {
    const { status, json } = await post(text)
    expect([status, json.id, json.error.code]).toEqual([200, null, code])
  })

  test('an unknown method is -32601, with its nearest', async () => {
    const { json } = await post('{"jsonrpc":"2.0","id":1,"method":"Sendmessage"}')
    expect(json.error.code).toBe(-32601)
    expect(json.error.data.at(-1).value.nearest).toEqual(['SendMessage'])
  })

  test('a notification is not answered', async () => {
    const { status, text } = await post('{"jsonrpc":"2.0","method":"SendMessage"}')
    expect([status, text]).toEqual([204, ''])
  })
})

describe('the paths of HTTP+JSON', () => {
  test('a version may stand in the query', async () => {
    const { status } = await home.request('POST', '/a2a/v1/message:send?A2A-Version=1.0', { body: search })
    expect(status).toBe(200)
  })

  test('the tenant precedes the path, and is an agent', async () => {
    const body = message([{ data: { action: 'get_current_price', params: { symbol: '..' } } }])
    const token = await home.token('caller')
    const path = '/a2a/v1/svc.utility.finance/message:send'
    const { json } = await home.request('POST', path, { body, token, headers: a2aVersion })
    expect(json.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  test('a client that accepts only plain JSON gets it', async () => {
    const headers = { ...a2aVersion, Accept: 'application/json' }
    const answer = await home.request('POST', '/a2a/v1/message:send', { body: search, headers })
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  test('another verb is 405 with the allowed ones, another path 404', async () => {
    const wrong = await home.request('GET', '/a2a/v1/message:send', { headers: a2aVersion })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    const nowhere = await home.request('GET', '/a2a/v1/nowhere/at/all', { headers: a2aVersion })
    expect([nowhere.status, nowhere.json.error.status]).toEqual([404, 'NOT_FOUND'])
    const list = await home.request('POST', '/a2a/v1/tasks', { body: {}, headers: a2aVersion })
    expect([list.status, list.headers.get('allow')]).toEqual([405, 'GET'])
  })
})

test("no failure of ours has a number that is A2A's or may become so", () => {
  const ours = Object.values(a2aCodes).filter(({ reason }) => reason === undefined)
  expect(ours.filter(({ rpc }) => rpc <= -32001 && rpc >= -32050)).toEqual([])
  expect(new Set(ours.map(({ rpc }) => rpc)).size).toBe(ours.length)
})
