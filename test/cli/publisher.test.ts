import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve, type TestServer } from '../net/support.ts'
import { type CommandResult, run, temporaryFolder } from '../support/command.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

/** Nobody listens there. */
const closed = 'http://127.0.0.1:10'
let home: TestGateway
let folder: Awaited<ReturnType<typeof temporaryFolder>>
let card: TestServer
let ada: (...args: string[]) => Promise<CommandResult>

beforeAll(async () => {
  card = await serve(({ url }, response) => {
    if (url === '/closed') return response.writeHead(401).end()
    if (url === '/home') return response.end('<h1>Sun</h1>')
    const sun = { name: 'Sun', description: 'Shines on any town.', url: card.origin }
    const other = { '/openapi.json': { openapi: '3.1.0', info: { title: 'Sun' } }, '/nameless.json': {} }[
      url ?? ''
    ]
    response.end(JSON.stringify(other ?? sun))
  })
  home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: `${closed},${allowed},${card.origin}` })
  folder = await temporaryFolder()
  ada = await publisher('ada')
})
afterAll(async () => {
  await home?.[Symbol.asyncDispose]()
  await folder?.[Symbol.asyncDispose]()
  await card?.[Symbol.asyncDispose]()
})

/** The command line of somebody who has a token and no shell on the server. */
async function publisher(subject: string): Promise<typeof ada> {
  const environment = {
    DRAGOMAN_URL: home.url,
    DRAGOMAN_TOKEN: await home.token(subject),
    DRAGOMAN_DATA: join(folder.path, 'unused'),
  }
  return (...args) => run(args, environment)
}

const allowed = 'http://127.0.0.1:3001'
const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
const name = 'com.example.weather'
/** Options that leave no placeholder. */
const described = ['--name', 'Weather', '--description', 'Forecasts for any town.']
const named = (packageName: string, endpoint = 'https://weather.example.com/a2a') =>
  ['--package-name', packageName, ...described, '--endpoint', endpoint] as const

test('a publisher with only a token takes an agent through its whole life by the command line', async () => {
  const file = join(folder.path, 'agent.json')
  const written = await ada('init', file, ...named(name), '--tag', 'weather')
  expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining(`dragoman publish ${file}`) })
  expect((await ada('init', file)).stderr).toContain('--force')
  expect((await ada('validate', file)).code).toBe(0)

  const staged = await ada('publish', file)
  expect(staged.stdout).toMatch(/^com\.example\.weather STAGE [0-9a-f-]{36}\n$/)
  expect(staged.stderr).toContain(`dragoman go-live ${name}`)
  expect((await ada('list', '--mine', '--state', 'stage')).stdout).toMatch(/^com\.example\.weather\tSTAGE\t/)

  const live = await ada('go-live', name)
  expect(live.stdout).toMatch(/^com\.example\.weather ACTIVE /)
  const [, address = ''] = /Its public address is (\S+)/.exec(live.stderr) ?? []
  expect((await fetch(address)).status).toBe(200)
  expect((await ada('open', name)).stdout).toBe(`${address}\n`)
  expect((await ada('list', '--mine')).stdout).toMatch(/^com\.example\.weather\tACTIVE\tunverified\t/)

  const publication = JSON.parse(await readFile(file, 'utf8'))
  for (const version of ['1.0.0', '1.1.0']) {
    await writeFile(
      file,
      JSON.stringify({ ...publication, version, description: `Forecasts, version ${version}.` }),
    )
    expect((await ada('update', name, file)).stdout).toContain(`ACTIVE ${version} `)
  }
  const again = await ada('publish', file)
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`dragoman update ${name} ${file}`) })

  expect((await ada('calls', name, '--days', '7')).stderr).toMatch(/^Nobody called it from \S+ to \S+\.\n$/)
  const versions = await ada('versions', name)
  expect(versions.stdout.split('\n').map((line) => line.split('\t')[0])).toEqual([
    '1.1.0',
    '1.0.0',
    '(none)',
    '',
  ])
  const diff = await ada('diff', name, '1.0.0')
  expect(diff.stdout).toContain('/description\n- Forecasts, version 1.0.0.\n+ Forecasts, version 1.1.0.\n')
  expect(diff.stdout).not.toContain('/tags')
  expect((await ada('diff', name, '1.1.0')).stderr).toContain(
    '1.1.0 and the current version (1.1.0) have the same card.',
  )

  const deprecated = await ada('deprecate', name, '--message', 'Look out of the window.')
  expect(deprecated.stdout).toBe(`${name} is deprecated\n`)
  expect((await ada('list', '--mine')).stdout).toMatch(/\tdeprecated\t/)
  expect((await ada('deprecate', name, '--undo')).stdout).toBe(`${name} is not deprecated any more\n`)

  expect((await ada('unpublish', name)).stdout).toMatch(/ STAGE /)
  const audit = await ada('audit', name)
  expect(audit.stdout.split('\n').map((line) => line.split('\t')[1])).toEqual([
    'unpublish',
    'undeprecate',
    'deprecate',
    'update',
    'update',
    'go_live',
    'publish',
    undefined,
  ])
  expect(await ada('delete', name)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect((await ada('delete', name, '--yes')).stdout).toBe(`${name} is deleted\n`)
  expect((await ada('list', '--mine')).stdout).toBe('')
})

test('an update from a server.json leads to its publication', async () => {
  const file = join(folder.path, 'update-server.json')
  await writeFile(file, JSON.stringify({ $schema: schema, name: 'com.example/files' }))
  const { code, stderr } = await ada('update', 'com.example/files', file)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`dragoman publish ${file}`)])
})

test('a server.json is validated and published as it is, and import leads there', async () => {
  const file = join(folder.path, 'server.json')
  const server = {
    $schema: schema,
    name: 'com.example/tides',
    description: 'Tides of any coast.',
    version: '1.0.0',
    packages: [{ registryType: 'npm', identifier: 'tides', version: '1.0.0', transport: { type: 'stdio' } }],
  }
  await writeFile(file, JSON.stringify(server, null, 2))
  expect(await ada('import', file)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `${file} is one JSON document; import takes one agent on each line. (invalid_request)
  To publish the agent of this document: dragoman publish ${file}
`,
  })
  expect(await ada('validate', file)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/It can be listed\.\n$/),
  })
  const published = await ada('publish', file)
  expect(published.stdout).toMatch(/^com\.example\/tides ACTIVE 1\.0\.0 [0-9a-f-]{36}\n$/)
  expect((await ada('publish', file)).stderr).toContain('1.0.0 already exists.')
  await writeFile(file, JSON.stringify({ ...server, name: 'com.example/sea tides' }))
  const wrong = await ada('validate', file)
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('error name ')])
})

test("a name of somebody else's is refused without an offer to update it", async () => {
  const file = join(folder.path, 'other.json')
  const bob = await publisher('bob')
  await ada('init', file, ...named('com.example.taken'))
  expect((await ada('publish', file, '--live')).code).toBe(0)
  const refused = await bob('publish', file)
  expect([refused.code, refused.stderr.includes('dragoman update')]).toEqual([1, false])
})

test('an agent in the wrong state, of an unknown version or of another owner is refused with the command to use', async () => {
  const file = join(folder.path, 'states.json')
  await ada('init', file, ...named('com.example.states'))
  await ada('publish', file)
  const hidden = await (await publisher('bob'))('go-live', 'com.example.states')
  expect([hidden.code, hidden.stderr]).toEqual([4, expect.stringContaining('signed in as its owner?')])
  const early = await ada('unpublish', 'com.example.states')
  expect(early.stderr).toMatch(/is STAGE already\. [\s\S]* \S+ go-live lists it\./)
  await ada('go-live', 'com.example.states')
  const late = await ada('go-live', 'com.example.states')
  expect(late.stderr).toMatch(/is ACTIVE already\. [\s\S]* unpublish hides it\./)
  expect((await ada('diff', 'com.example.states', '9')).stderr).toMatch(/ versions lists all versions\./)
})

test.each([
  [
    'a card',
    { name: 'Sun', skills: [], protocolVersion: '0.3.0' },
    ['an A2A agent card', '{"manifest_url": '],
  ],
  [
    'an API',
    { openapi: '3.1.0', paths: {} },
    ['an OpenAPI document', 'Put an MCP server or an A2A agent before'],
  ],
  [
    'the file of a host',
    { mcpServers: { sun: { command: 'npx', args: ['-y', 'sun'] } } },
    ['a configuration file of an MCP host', '[{"registry_type": "npm", "identifier": "PACKAGE"}]'],
  ],
])(
  'a file with %s in the place of a publication is named, with what to publish',
  async (_, document, texts) => {
    const file = join(folder.path, 'other.json')
    await writeFile(file, JSON.stringify(document))
    const { code, stderr } = await ada('publish', file)
    expect(code).toBe(2)
    for (const text of texts) expect(stderr).toContain(text)
    expect(stderr).not.toContain('There is no such field')
  },
)

test('an address that serves no card is refused by what it serves, and by the field that it lacks', async () => {
  const file = join(folder.path, 'elsewhere.json')
  const refusalOf = async (path: string) => {
    await ada('init', file, '--force', '--manifest', `${card.origin}${path}`)
    return (await ada('publish', file)).stderr
  }
  expect(await refusalOf('/openapi.json')).toMatch(
    /This is an OpenAPI document, and no card\.[\s\S]* Put an MCP /,
  )
  expect(await refusalOf('/nameless.json')).toContain('/name: An agent cannot be listed without it.')
  expect(await refusalOf('/closed')).toContain('is published by name, description and endpoints')
  expect(await refusalOf('/home')).toContain(`usually at ${card.origin}/.well-known/agent-card.json`)
})

test('the address of a card leads to --manifest, and any other to --endpoint', async () => {
  const url = 'https://sun.example.com'
  expect((await ada('publish', `${url}/.well-known/agent-card.json`)).stderr).toContain(
    'init --manifest https:',
  )
  expect((await ada('init', `${url}/card.json`)).stderr).toContain('init --manifest https:')
  expect((await ada('publish', `${url}/mcp`)).stderr).toContain('init --endpoint https:')
})

test('a publication without a name is validated as a publication', async () => {
  const file = join(folder.path, 'unnamed.json')
  await writeFile(file, JSON.stringify({ name: 'Sun', description: 'Shines.', endpoints: [] }))
  expect((await ada('validate', file)).stdout).toContain('error /package_name')
})

test('a call that an agent answers with a question or a challenge shows the command that goes on', async () => {
  await using agent = await serveEnvelopes(({ action, params }, response) => {
    if (action === 'locked') return void response.writeHead(401).end()
    const question = {
      status: 'input_required',
      agent: 'a',
      task_id: 't 1',
      question: { text: 'Which day?' },
    }
    answerJson(response, action === 'continue_task' ? params : question)
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
  const to = 'com.example.ferry'
  await list(gateway, { package_name: to, endpoints: [{ protocol: 'envelope', url: agent.url }] })
  const environment = { DRAGOMAN_URL: gateway.url, DRAGOMAN_TOKEN: await gateway.token('ada') }
  const { stderr } = await run(['call', to, 'book'], environment)
  const [, task = '', input = ''] = /continue_task '(task_id=[^']+)' '(input:=[^']+)'/.exec(stderr) ?? []
  const answered = await run(['call', to, 'continue_task', task, input], environment)
  expect(JSON.parse(answered.stdout)).toMatchObject({ input: { text: 'ANSWER' } })
  const locked = await run(['call', to, 'locked'], environment)
  expect(locked.stderr).toContain(`credentials set ${to}.`)
})

test('a new file names the fields to fill in, and is refused by these names until they are', async () => {
  const file = join(folder.path, 'unfilled.json')
  const fields = ['package_name', 'name', 'description', 'endpoints/0/url']
  const { stderr } = await ada('init', file)
  expect(stderr).toContain(`Fill in ${fields.join(', ')}. Then: `)
  expect(stderr).toContain('It states the protocol a2a. --protocol states another.')
  const checked = await ada('validate', file)
  expect([checked.code, checked.stdout.match(/error \S+/g)]).toEqual([
    1,
    fields.map((field) => `error /${field}`),
  ])
  const refused = await ada('publish', file)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(fields.join(', ')) })
  await ada('init', file, '--force', ...named('com.example.filled'))
  expect((await ada('publish', file)).code).toBe(0)
  await writeFile(file, JSON.stringify({ name: JSON.parse((await ada('init', '-')).stdout).name }))
  const updated = await ada('update', 'com.example.filled', file)
  expect(updated).toMatchObject({ code: 2, stderr: expect.stringContaining('not filled in: name.') })
})

test('publishing an agent on this machine says at once how a gateway may call it', async () => {
  const file = join(folder.path, 'local.json')
  await ada('init', file, ...named('com.example.local', 'http://127.0.0.1:3000/a2a'))
  const warned = expect.stringContaining('DRAGOMAN_ALLOW_ORIGINS=http://127.0.0.1:3000')
  const { code, stderr } = await ada('publish', file)
  expect([code, stderr]).toEqual([0, warned])
  await ada('delete', 'com.example.local', '--yes')
  await ada('init', file, '--force', ...named('com.example.live', 'http://127.0.0.1:3000/a2a'))
  expect((await ada('publish', file, '--live')).stderr).toEqual(warned)
})

test('publishing an agent that the gateway is allowed to call warns of nothing', async () => {
  const file = join(folder.path, 'allowed.json')
  await ada('init', file, ...named('com.example.allowed', `${allowed}/a2a`))
  const { code, stderr } = await ada('publish', file)
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('warning')])
})

test('a publication of a card alone is validated with its card, as it is published', async () => {
  const file = join(folder.path, 'card.json')
  await ada('init', file, '--manifest', `${closed}/card.json`)
  const closedCard = await ada('validate', file)
  expect([closedCard.code, closedCard.stdout]).toEqual([1, expect.stringContaining('It cannot be listed.')])
  await ada('init', file, '--force', '--manifest', `${card.origin}/card.json`)
  const unnamed = await ada('validate', file)
  expect([unnamed.code, unnamed.stdout]).toEqual([1, expect.stringMatching(/^error \/package_name /m)])
  expect((await ada('publish', file)).stderr).toContain('/package_name')
  await ada(
    'init',
    file,
    '--force',
    '--manifest',
    `${card.origin}/card.json`,
    '--package-name',
    'com.example.sun',
  )
  const named = await ada('validate', file)
  expect([named.code, named.stdout]).toEqual([0, expect.not.stringContaining('/package_name')])
  expect((await ada('publish', file)).stdout).toMatch(/^com\.example\.sun STAGE /)
})

test('a new file states the protocol that the address suggests, unless its author states one', async () => {
  const protocolOf = async (...options: string[]) =>
    JSON.parse((await ada('init', '-', ...options)).stdout).endpoints[0].protocol
  expect(await protocolOf('--endpoint', 'http://127.0.0.1:3000/mcp')).toBe('mcp')
  expect(await protocolOf('--endpoint', 'https://weather.example.com/v1')).toBe('a2a')
  expect(await protocolOf('--endpoint', 'https://weather.example.com/mcp', '--protocol', 'a2a')).toBe('a2a')
})

test('changes are watched, and webhooks are made, listed, changed and deleted', async () => {
  const watched = await ada('watch', '--since', '0', '--until', '1', '--json')
  expect(JSON.parse(watched.stdout.split('\n')[0] ?? '')).toMatchObject({ revision: expect.any(Number) })
  const created = await ada('webhooks', 'create', 'https://hook.example.com/', '--kind', 'deleted', '--mine')
  const [id = '', secret] = created.stdout.trim().split(' ')
  expect(secret).toMatch(/^whsec_/)
  expect((await ada('webhooks', 'list')).stdout).toMatch(new RegExp(`^${id}\ton\tdeleted\t`))
  expect((await ada('webhooks', 'update', id, '--disable', '--all')).stdout).toMatch(/ off\n/)
  expect((await ada('webhooks', 'get', id)).stdout).not.toContain(secret)
  expect((await ada('webhooks', 'update', id)).code).toBe(2)
  expect((await ada('webhooks', 'delete', id)).code).toBe(0)
  expect((await ada('webhooks', 'get', id)).code).toBe(4)
})

test('a check says which signal fails', async () => {
  const file = join(folder.path, 'silent.json')
  await ada('init', file, ...named('com.example.silent', 'http://127.0.0.1:9/a2a'))
  await ada('publish', file, '--live')
  const { code, stdout, stderr } = await ada('check', 'com.example.silent')
  expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL answer blocked_address/)])
  expect(stderr).toContain('DRAGOMAN_ALLOW_ORIGINS')
  expect((await ada('check', 'svc.utility.wiki')).code).toBe(0)
})

test('the liveness of an agent is shown by days', async () => {
  const file = join(folder.path, 'quiet.json')
  await ada('init', file, ...named('com.example.quiet', `${closed}/a2a`))
  await ada('publish', file, '--live')
  expect(await ada('check', 'com.example.quiet', '--days', '7')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/No probe was counted from \d{4}-\d\d-\d\d to /),
  })
  await ada('check', 'com.example.quiet')
  const { stdout } = await ada('check', 'com.example.quiet', '--days', '7')
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d\t1\t1\t\t\n$/)
  const history = await ada('check', 'com.example.quiet', '--days', '7', '--json')
  expect(JSON.parse(history.stdout).days).toMatchObject([{ probes: 1, failures: 1 }])
  expect((await ada('check', 'com.example.quiet', '--days', '0')).code).toBe(2)
})
