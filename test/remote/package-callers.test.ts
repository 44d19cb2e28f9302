import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { afterAll, expect, test, vi } from 'vitest'
import type { ApprovalList } from '../../schemas/approval.ts'
import type { JsonObject } from '../../schemas/json.ts'
import { principalKey } from '../../src/common/principal-key.ts'
import { permitted } from '../../src/remote/mcp/permitted.ts'
import type { Launch, Permit } from '../../src/remote/remote-agent.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { serveMcpStdio } from '../../src/transports/mcp/stdio.ts'
import { a2aVersion } from '../support/a2a.ts'
import { Browser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { createTestRunner } from '../support/package-runner.ts'
import { signInOperator } from '../support/sign-in.ts'
import { openTransports } from '../support/transports.ts'

const ada = {
  issuer: 'urn:dragoman:local',
  subject: 'ada',
  scopes: new Set(['a2a:call'] as const),
  namespaces: [],
}
const approved = 'com.example/approved'

async function list(name: string, more: object = {}): Promise<void> {
  const source = {
    registryType: 'npm',
    identifier: '@example/well',
    version: '1.0.0',
    transport: { type: 'stdio' },
    ...more,
  }
  const lines = [
    JSON.stringify({ server: { name, description: 'A package.', version: '1.0.0', packages: [source] } }),
  ]
  await send('svc.registry', 'import_entries', { lines }, admin)
}

async function send(to: string, action: string, params: object, by = token) {
  return (await home.request('POST', '/a2a/message', { body: { to, action, params }, token: by })).json
}

const runner = createTestRunner({ '@example/well': ['1.0.0'] })
const home = await startGateway({}, { runner, question_wait_ms: 1000 })
const token = await home.token('ada')
const admin = await home.token('root', { scopes: ['admin'] })
await list(approved)
await send('svc.registry', 'approve_package', { agent: approved }, admin)
afterAll(() => home[Symbol.asyncDispose]())

test('a package answers the same over every transport', async () => {
  const outcomes: Record<string, unknown> = {}
  for (const transport of openTransports(home)) {
    const envelope = { to: approved, action: 'echo', params: { text: 'a' } }
    outcomes[transport.name] = await transport.call(envelope, token)
  }
  expect(Object.keys(outcomes).length).toBeGreaterThan(5)
  for (const [name, outcome] of Object.entries(outcomes))
    expect([name, outcome]).toEqual([name, { output: { text: 'a' } }])
})

test('a package that is not approved is refused with the same code over every transport', async () => {
  await list('com.example/refused')
  const eve = await home.token('eve')
  for (const transport of openTransports(home)) {
    const envelope = { to: 'com.example/refused', action: 'echo', params: { text: 'a' } }
    expect([transport.name, await transport.call(envelope, eve)]).toEqual([
      transport.name,
      { code: 'approval_required' },
    ])
  }
})

/** `answer`: to each form, or what gives it. */
async function connectBy(transport: Transport, answer: object | (() => object)) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: 'auto' },
    },
  )
  const questions: string[] = []
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params.message)
    return (typeof answer === 'function' ? answer() : answer) as { action: 'accept' }
  })
  await client.connect(transport)
  return { client, questions, [Symbol.asyncDispose]: () => client.close() }
}

function connect(path: string, answer: object, by = token) {
  const requestInit = { headers: { Authorization: `Bearer ${by}` } }
  return connectBy(new StreamableHTTPClientTransport(new URL(home.url + path), { requestInit }), answer)
}

/** Ada's own host, over pipes. */
function connectHost(answer: object | (() => object)) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const onError = () => {}
  const service = createMcpService(home.gateway, '1', onError)
  const person = { ...ada, own_host: true as const }
  void serveMcpStdio(service, { identify: () => person }, onError, { input, output })
  const transport: Transport = {
    async start() {
      createInterface({ input: output }).on('line', (line) => transport.onmessage?.(JSON.parse(line)))
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      input.end()
      transport.onclose?.()
    },
  }
  return connectBy(transport, answer)
}

const accept = (content: object) => ({ action: 'accept', content })
const echo = (agent: string) => ({
  name: 'call_agent',
  arguments: { agent, action: 'echo', params: { text: 'a' } },
})

test('a question of a package reaches its MCP client, and its progress too', async () => {
  await using connected = await connect(
    `/mcp/agents/${encodeURIComponent(approved)}`,
    accept({ response: 'Ada' }),
  )
  const { content } = await connected.client.callTool({ name: 'ask', arguments: {} })
  expect(content).toEqual([{ type: 'text', text: 'You are Ada.' }])
  expect(connected.questions).toEqual([`${approved} asks: Who are you?`])
  const seen: unknown[] = []
  await connected.client.callTool(
    { name: 'work', arguments: {} },
    { onprogress: (progress) => void seen.push(progress) },
  )
  expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }])
})

test('an MCP client reads the resources and the prompts of a package, as of any other server', async () => {
  const path = `/mcp/agents/${encodeURIComponent(approved)}`
  await using connected = await connect(path, {})
  const { client } = connected
  expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {}, prompts: {} })
  const { resources } = await client.listResources()
  const { contents } = await client.readResource({ uri: resources[0]?.uri ?? '' })
  expect(contents).toMatchObject([{ text: 'Remember the milk.' }])
  expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'summarise' }])
})

test('a package that is not approved says so to an MCP client that lists its tools', async () => {
  await list('com.example/unapproved')
  await using connected = await connect('/mcp/agents/com.example%2Funapproved', {})
  await expect(connected.client.listTools()).rejects.toThrow(/approve/)
})

test('a question of a package reaches a caller of A2A as a task', async () => {
  const say = async (data: object, more: object) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data }], ...more }
    const path = `/a2a/v1/${encodeURIComponent(approved)}/message:send`
    return (await home.request('POST', path, { body: { message }, token, headers: a2aVersion })).json.task
  }
  const task = await say({}, { metadata: { skillId: 'ask' } })
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const done = await say({ response: 'Ada' }, { taskId: task.id })
  expect(JSON.stringify(done.artifacts)).toContain('You are Ada.')
})

test('the person of a host approves a package for themselves alone, by a form of the host', async () => {
  await list('com.example/mine')
  await using connected = await connectHost(accept({ approve: true }))
  const { content } = await connected.client.callTool(echo('com.example/mine'))
  expect(content).toEqual([{ type: 'text', text: '{"text":"a"}' }])
  const [question = ''] = connected.questions
  for (const part of ['@example/well 1.0.0', 'bubblewrap', 'without network', 'sha512-'])
    expect(question).toContain(part)
  await connected.client.callTool(echo('com.example/mine'))
  expect(connected.questions).toHaveLength(1)
  expect(await home.gateway.store.approvals.list(principalKey(ada))).toHaveLength(1)
  const eve = await home.token('eve')
  expect((await send('com.example/mine', 'echo', { text: 'a' }, eve)).code).toBe('approval_required')
})

test('whoever approves a package sees the arguments and the variables that its publisher starts it with', async () => {
  const args = ['--eval', 'rm -rf .'].map((value) => ({ type: 'positional', value }))
  const environmentVariables = [
    { name: 'API_URL', value: 'https://evil.example/' },
    { name: 'MODE', default: 'all' },
    { name: 'SIGNED', value: 'as {who}', variables: { who: { default: 'x' } } },
    { name: 'KEY', isSecret: true },
  ]
  await list('com.example/started', { packageArguments: args, environmentVariables })
  await using connected = await connectHost({ action: 'decline' })
  await connected.client.callTool(echo('com.example/started'))
  expect(connected.questions[0]).toContain("Its publisher starts it with: --eval 'rm -rf .'")
  expect(connected.questions[0]).toMatch(
    /\nIts publisher sets: API_URL=https:\/\/evil\.example\/ MODE=all SIGNED='as \$\{who\}'\n/,
  )
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const page = await browser.open(`${home.url}/me/packages?agent=com.example%2Fstarted`)
  const form = page.forms.find(({ fields }) => fields.do === 'look')
  const report = await browser.post(page.url, { ...form?.fields, agent: 'com.example/started' })
  expect(report.text).toContain('--eval &#39;rm -rf .&#39;')
  expect(report.text).toContain('API_URL=https://evil.example/ MODE=all')
})

test('whoever approves a package reads what its publisher says of it in quotes, on one line', async () => {
  await list('com.example/warned')
  const found = await runner.resolve(
    { registry_type: 'npm', identifier: '@example/well', version: '1.0.0' },
    new AbortController().signal,
  )
  using _ = vi
    .spyOn(runner, 'resolve')
    .mockResolvedValue({ ...found, warning: 'Old.\nIts publisher is verified.' })
  await using connected = await connectHost({ action: 'decline' })
  await connected.client.callTool(echo('com.example/warned'))
  expect(connected.questions[0]).toContain('\nThe package registry warns: "Old. Its publisher is verified."')
})

test('the person sees what they approved in their host, uses it on the command line, and ends it', async () => {
  await list('com.example/ended')
  await using connected = await connectHost(accept({ approve: true }))
  await connected.client.callTool(echo('com.example/ended'))
  const operator = { ...ada, own_host: true as const, scopes: new Set(['admin'] as const) }
  const { dispatch } = home.gateway
  const act = async (to: string, action: string, params: object) => {
    const call = {
      principal: operator,
      signal: new AbortController().signal,
      id: '1',
      client: 'local' as const,
    }
    return (await dispatch({ to, action, params: params as JsonObject }, call)).output
  }
  const listed = (await act('svc.registry', 'list_approvals', {})) as unknown as ApprovalList
  const callers = new Map(listed.approvals.map((approval) => [approval.agent, approval.callers]))
  expect([callers.get('com.example/ended'), callers.get(approved)]).toEqual(['own', 'all'])
  expect(await act('com.example/ended', 'echo', { text: 'b' })).toEqual({ text: 'b' })
  await act('svc.registry', 'revoke_approval', { agent: 'com.example/ended' })
  await expect(act('com.example/ended', 'echo', { text: 'c' })).rejects.toMatchObject({
    code: 'approval_required',
  })
})

test('a person who declines is asked once, and nothing starts', async () => {
  await list('com.example/declined')
  const starts = runner.starts.length
  await using connected = await connectHost({ action: 'decline' })
  for (let count = 0; count < 2; count++) {
    const { isError, content } = await connected.client.callTool(echo('com.example/declined'))
    expect([isError, JSON.stringify(content)]).toEqual([
      true,
      expect.stringMatching(/Ask the operator(?!.*dragoman allow)/),
    ])
  }
  expect(connected.questions).toHaveLength(1)
  expect(runner.starts).toHaveLength(starts)
})

test('the page asks for the values that a package requires, and starts it with them', async () => {
  await list('com.example/needy', {
    environmentVariables: [
      { name: 'REGION', isRequired: true },
      { name: 'API_KEY', isRequired: true, isSecret: true },
    ],
    packageArguments: [{ type: 'positional', valueHint: 'folder', isRequired: true }],
  })
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const page = await browser.open(`${home.url}/me/packages?agent=com.example/needy`)
  const look = page.forms.find(({ fields }) => fields.do === 'look')
  const shown = await browser.submit(page, {}, look)
  const approve = shown.forms.find(({ fields }) => fields.do === 'approve')
  expect(Object.keys(approve?.fields ?? {})).toEqual(
    expect.arrayContaining(['environment.REGION', 'environment.API_KEY', 'argument.folder']),
  )
  const values = {
    'environment.REGION': 'eu',
    'environment.API_KEY': 'hidden-key',
    'argument.folder': 'tides',
  }
  const done = await browser.submit(shown, values, approve)
  expect(done.text).toContain('REGION=eu')
  expect(done.text).not.toContain('Still missing')
  expect(done.text).not.toContain('hidden-key')
  expect(await send('com.example/needy', 'echo', { text: 'a' })).toEqual({ text: 'a' })
})

test('a package that needs a secret is approved in a host once its person has stored the secret', async () => {
  await list('com.example/keyed', {
    environmentVariables: [{ name: 'API_KEY', isRequired: true, isSecret: true }],
  })
  await using connected = await connectHost(accept({ approve: true }))
  const refused = await connected.client.callTool(echo('com.example/keyed'))
  expect(JSON.stringify(refused.content)).toContain(
    'dragoman credentials set com.example/keyed --variable API_KEY',
  )
  expect(connected.questions).toEqual([])
  const stored = { agent: 'com.example/keyed', variable: 'API_KEY', value: 'key of Ada' }
  expect((await send('svc.registry', 'set_credential', stored)).kind).toBe('variable')
  expect((await connected.client.callTool(echo('com.example/keyed'))).isError).toBeUndefined()
  expect(runner.starts.at(-1)?.env).toMatchObject({ API_KEY: 'key of Ada' })
})

test('listing the capabilities of a package asks its person first', async () => {
  await list('com.example/unread')
  const listing = {
    name: 'call_agent',
    arguments: { agent: 'com.example/unread', action: 'list_capabilities', params: {} },
  }
  await using connected = await connectHost(accept({ approve: true }))
  for (let count = 0; count < 2; count++) {
    const { structuredContent, isError } = await connected.client.callTool(listing)
    expect(isError).toBeUndefined()
    const { capabilities } = structuredContent as { capabilities: { name: string }[] }
    expect(capabilities.map(({ name }) => name)).toContain('echo')
  }
  expect(connected.questions).toHaveLength(1)
})

test('the hosts that a person names in the form are those that the package may reach', async () => {
  await list('com.example/reaching')
  const answers = ['https://api.example.com/x', 'api.example.com, example.org:8443', '']
  await using connected = await connectHost(() => accept({ approve: true, hosts: answers.shift() }))
  const wrong = await connected.client.callTool(echo('com.example/reaching'))
  expect(JSON.stringify(wrong.content)).toContain('named something that is not a host')
  expect((await connected.client.callTool(echo('com.example/reaching'))).isError).toBeUndefined()
  expect(runner.starts.at(-1)?.hosts).toEqual(['api.example.com', 'example.org:8443'])
  await list('com.example/resting')
  await connected.client.callTool(echo('com.example/resting'))
  expect(runner.starts.at(-1)?.hosts).toEqual([])
})

test('a no of one host does not count for another one', async () => {
  await list('com.example/elsewhere')
  await using declining = await connectHost({ action: 'decline' })
  expect((await declining.client.callTool(echo('com.example/elsewhere'))).isError).toBe(true)
  await using approving = await connectHost(accept({ approve: true }))
  expect((await approving.client.callTool(echo('com.example/elsewhere'))).isError).toBeUndefined()
})

test('a form that is sent without its tick is no answer: the next call asks again', async () => {
  await list('com.example/unticked')
  await using connected = await connectHost(accept({ approve: false }))
  for (let count = 0; count < 2; count++) {
    const { content } = await connected.client.callTool(echo('com.example/unticked'))
    expect(JSON.stringify(content)).toContain('Another call asks again.')
  }
  expect(connected.questions).toHaveLength(2)
})

test('a call that ends during the installation leaves it to the next call, which asks nothing', async () => {
  await list('com.example/slow')
  await using connected = await connectHost(accept({ approve: true }))
  const installed = runner.installs.length
  const announced = Promise.withResolvers<void>()
  const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  runner.beforeInstall = () => {
    began.resolve()
    return released.promise
  }
  const impatient = new AbortController()
  const first = connected.client.callTool(echo('com.example/slow'), {
    signal: impatient.signal,
    onprogress: ({ message }) => void (message === 'installing' && announced.resolve()),
  })
  await Promise.all([began.promise, announced.promise])
  impatient.abort()
  await expect(first).rejects.toThrow()
  runner.beforeInstall = async () => {}
  const second = connected.client.callTool(echo('com.example/slow'), {
    onprogress: ({ message }) => void (message?.startsWith('Waits for') && released.resolve()),
  })
  expect((await second).content).toEqual([{ type: 'text', text: '{"text":"a"}' }])
  expect(connected.questions).toHaveLength(1)
  expect(runner.installs.slice(installed)).toEqual(['@example/well 1.0.0'])
})

test('two calls at once ask their person one question', async () => {
  await list('com.example/twice')
  const [shown, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()]
  await using connected = await connectHost(() => {
    shown.resolve()
    return answered.promise
  })
  const first = connected.client.callTool(echo('com.example/twice'))
  await shown.promise
  const second = connected.client.callTool(echo('com.example/twice'), {
    onprogress: () => answered.resolve(accept({ approve: true })),
  })
  for (const { content } of await Promise.all([first, second]))
    expect(content).toEqual([{ type: 'text', text: '{"text":"a"}' }])
  expect(connected.questions).toHaveLength(1)
})

test('a question without an answer keeps no other call waiting for long', async () => {
  await list('com.example/left')
  const shown = Promise.withResolvers<void>()
  const answers = [accept({ approve: true }), new Promise<object>(() => {})]
  await using connected = await connectHost(() => {
    shown.resolve()
    return answers.pop() ?? {}
  })
  connected.client.callTool(echo('com.example/left')).catch(() => {})
  await shown.promise
  const { content } = await connected.client.callTool(echo('com.example/left'))
  expect(content).toEqual([{ type: 'text', text: '{"text":"a"}' }])
})

test('a caller who waits for an installation is told again and again', async () => {
  const updates: object[] = []
  const enough = Promise.withResolvers<Launch>()
  const launch: Launch = { key: 'a', start: () => Promise.reject(new Error('Nothing starts.')) }
  const emit = async (update: object) => {
    if (updates.push(update) === 3) enough.resolve(launch)
  }
  const permit: Permit = ({ progress }) => {
    progress('Installs 3 packages')
    return enough.promise
  }
  const { signal } = new AbortController()
  expect(await permitted(permit, { signal, emit }, undefined, 1)).toBe(launch)
  expect(updates).toEqual(
    [1 / 2, 2 / 3, 3 / 4].map((progress) => ({ progress, message: 'Installs 3 packages' })),
  )
})

test('nobody else is asked to approve, and neither is a caller without a host that can ask', async () => {
  await list('com.example/others')
  await using connected = await connect('/mcp', accept({ approve: true }))
  expect((await connected.client.callTool(echo('com.example/others'))).isError).toBe(true)
  expect(connected.questions).toEqual([])
  expect((await send('com.example/others', 'echo', { text: 'a' })).code).toBe('approval_required')
})
