import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyExamples } from '../../../src/transports/http/openapi/examples.ts'
import { tags } from '../../../src/transports/http/route.ts'
import { guideOf } from '../../support/documents.ts'
import { everyScope, pricesFrom, startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'
import { openWorld, type Services } from '../schemathesis/world.ts'

const python = installed('openapi-python-client-0.29.1/bin')
const typescript = installed('openapi-typescript-7.13.0/node_modules/.bin')
const spectral = installed('spectral-6.16.3/node_modules/.bin/spectral')
const redocly = installed('redocly-2.77.0/node_modules/.bin/redocly')
const root = resolve(import.meta.dirname, '../../..')

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly statuses: readonly string[]
  readonly parameters: readonly string[]
  readonly media: string | undefined
}

let world: Services
let home: TestGateway
let folder: string
let document: string
let operations: readonly Operation[]
beforeAll(async () => {
  world = await openWorld()
  home = await startGateway({
    DRAGOMAN_ALLOW_ORIGINS: world.url,
    DRAGOMAN_CONTACT: 'tests@example.org',
    DRAGOMAN_WIKI_URL: `${world.url}/w/api.php`,
    ...pricesFrom(world.url),
  })
  folder = await mkdtemp(join(tmpdir(), 'dragoman-clients-'))
  const { text } = await home.request('GET', '/openapi.json')
  document = join(folder, 'openapi.json')
  await writeFile(document, text)
  operations = operationsOf(JSON.parse(text))
})
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into freely
function operationsOf({ paths }: any): Operation[] {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return Object.entries<any>(paths).flatMap(([path, item]) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    Object.entries<any>(item).map(([method, { operationId, responses, requestBody }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      statuses: Object.keys(responses),
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      media: Object.keys(requestBody?.content ?? {})[0],
    })),
  )
}

const rpc = (method: string) => ({ jsonrpc: '2.0', id: 1, method })
const bodies: Readonly<Record<string, unknown>> = {
  ...bodyExamples,
  callJsonRpc: rpc('rpc.discover'),
  callA2A: rpc('GetExtendedAgentCard'),
  callMcp: rpc('tools/list'),
  callAgentMcp: rpc('tools/list'),
  createToken: { grant_type: 'client_credentials' },
  revokeToken: { token: 'x' },
}
const latest = { from: 'latest', to: 'latest' }
const queries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exportSession: { format: 'curl' },
  diffPublicVersions: latest,
  suggestNames: { q: 'wiki' },
}

/** What removes something comes last, and what removes most at the very end. */
const last = [
  'deleteCredential',
  'deleteKey',
  'deleteWebhook',
  'deleteSession',
  'suspendAgent',
  'deleteAgent',
  'purgeAgent',
  'deletePersonalData',
]

/** A publisher with an agent that is live, a session, a webhook and a key, and the operations in their order. */
async function planOf(subject: string) {
  const token = await home.token(subject, {
    scopes: [...everyScope, 'admin'],
    namespaces: [`com.${subject}`],
  })
  const body = { ...(bodyExamples.publishAgent as object), package_name: `com.${subject}.agent` }
  const made = await home.request('POST', '/api/agents/publish', { token, body })
  const session = await home.request('POST', '/api/playground/session', { token })
  const webhook = await home.request('POST', '/api/webhooks', { token, body: bodyExamples.createWebhook })
  const key = await home.request('POST', '/api/keys', { token, body: {} })
  const ids: Readonly<Record<string, string>> = {
    agent: made.json.id,
    session: session.json.id,
    webhook: webhook.json.id,
    id: key.json.id,
    tenant: 'svc.utility.wiki',
  }
  const payloads: Readonly<Record<string, unknown>> = {
    ...bodies,
    publishAgent: { ...body, package_name: `com.${subject}.other` },
    readPage: { input: { url: world.page } },
    createWebhook: { url: `${world.url}/hook` },
  }
  const order = [...operations].sort((left, right) => last.indexOf(left.id) - last.indexOf(right.id))
  return { token, ids, payloads, order }
}

interface Report {
  readonly operation: string
  readonly status?: number
  readonly fault?: string
}

/** Operations that this caller cannot make succeed, with the status that they answer. */
const refused: Readonly<Record<string, readonly number[]>> = {
  acceptTransfer: [409],
  approvePackage: [409],
  claimAgent: [409],
  connectAgent: [409, 502],
  revokeApproval: [404],
  // The agent has no repository and states no icon.
  getReadme: [404],
  getIcon: [404],
  setCredential: [200, 409],
  deleteCredential: [204, 404],
  getInstallConfig: [200, 409],
  getPublicInstallConfig: [200, 409],
  createToken: [401],
  revokeToken: [401],
  callMcp: [200, 406],
  callAgentMcp: [200, 404, 406],
  unpublishAgent: [200, 409],
  deleteAgent: [204, 409],
}

function assertDriven(reports: readonly Report[]): void {
  expect(reports.map(({ operation }) => operation).sort()).toEqual(operations.map(({ id }) => id).sort())
  const wrong = reports.filter(({ operation, status = 0, fault }) => {
    if (fault !== undefined) return true
    const statuses = operations.find(({ id }) => id === operation)?.statuses ?? []
    const isDeclared = statuses.includes(String(status)) || statuses.includes(`${String(status)[0]}XX`)
    return !isDeclared || !(refused[operation]?.includes(status) ?? status < 300)
  })
  expect(wrong).toEqual([])
}

/** Words of Python get an underscore. */
const inPython = (query: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [/^(format|from)$/.test(name) ? `${name}_` : name, value]),
  )

const snake = (id: string) =>
  id.replace('A2A', 'A2a').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The folder of the client that openapi-python-client makes of a document, without a complaint. */
async function pythonClient(name: string, path: string): Promise<string> {
  const client = join(folder, name)
  const config = join(folder, 'config.yml')
  await writeFile(config, 'literal_enums: true\npost_hooks: []\n')
  const options = ['--path', path, '--output-path', client, '--config', config, '--fail-on-warning']
  await using generator = run(join(python ?? '', 'openapi-python-client'), ['generate', ...options])
  const { code, stdout, stderr } = await generator.ended
  expect(code, stdout + stderr).toBe(0)
  return client
}

/** The models of a Python client: the files of a class, and not those of an enumeration. */
async function modelsOf(client: string): Promise<string[]> {
  const files = (await readdir(client, { recursive: true })).filter((file) => /\/models\/\w+\.py$/.test(file))
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(join(client, file), 'utf8')] as const),
  )
  return texts.filter(([, text]) => /^class /m.test(text)).map(([file]) => basename(file, '.py'))
}

describe('openapi-python-client 0.29.1, where .ci/run has installed it,', () => {
  const guide = guideOf('rest-client.md')
  const named = [...guide.matchAll(/openapi\.json\?tags=([\w,]+)/g)].map(([, tags = '']) => tags)
  const parts = [...new Set(named)]

  test.skipIf(!python)('makes at most 60 models of each part that the guide names', async () => {
    const counts = await Promise.all(
      parts.map(async (tags) => {
        const { text } = await home.request('GET', `/openapi.json?tags=${tags}`)
        const path = join(folder, `${tags}.json`)
        await writeFile(path, text)
        return [tags, (await modelsOf(await pythonClient(tags, path))).length] as const
      }),
    )
    expect(counts.filter(([, count]) => count === 0 || count > 60)).toEqual([])
    const covered = new Set(parts.flatMap((tags) => tags.split(',')))
    expect(Object.keys(tags).filter((tag) => !covered.has(tag))).toEqual([])
  })

  test.skipIf(!python)(
    'makes a readable client without a complaint, which drives every operation',
    async () => {
      const client = await pythonClient('python', document)
      const { token, ids, payloads, order } = await planOf('python')
      const plan = {
        url: home.url,
        token,
        ids,
        order: order.map(({ id }) => snake(id)),
        operations: Object.fromEntries(
          order.map(({ id }) => [snake(id), { body: payloads[id], query: inPython(queries[id]) }]),
        ),
      }
      const script = join(import.meta.dirname, 'drive_rest.py')
      await using driver = run(
        join(python ?? '', 'python'),
        [script, client],
        {},
        { input: JSON.stringify(plan) },
      )
      const { code, stdout, stderr } = await driver.ended
      expect(code, stderr).toBe(0)
      const names = new Map(operations.map(({ id }) => [snake(id), id]))
      const reports = linesOf(stdout).map((report) => ({
        ...report,
        operation: names.get(report.operation) ?? '',
      }))
      assertDriven(reports)
    },
  )
})

describe('openapi-typescript 7.13.0, where .ci/run has installed it,', () => {
  test.skipIf(!typescript)(
    'makes types by which every operation compiles strictly and is driven',
    async () => {
      const { token, payloads, ids, order } = await planOf('typescript')
      const bin = typescript ?? ''
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
      await writeFile(join(folder, 'package.json'), '{"type":"module"}')
      await writeFile(join(folder, 'program.ts'), programOf(order, payloads, ids))
      await using generator = run(join(bin, 'openapi-typescript'), [
        document,
        '-o',
        join(folder, 'schema.ts'),
      ])
      expect((await generator.ended).code).toBe(0)
      const flags =
        '--strict --noUncheckedIndexedAccess --target es2024 --lib es2024,dom --module nodenext --types node'
      await using compiler = run(join(bin, 'tsc'), [...flags.split(' '), 'program.ts'], {}, { cwd: folder })
      const compiled = await compiler.ended
      expect(compiled.code, compiled.stdout).toBe(0)
      await using driver = run(process.execPath, [join(folder, 'program.js')], {
        TOKEN: token,
        BASE: home.url,
      })
      const { code, stdout, stderr } = await driver.ended
      expect(code, stderr).toBe(0)
      assertDriven(linesOf(stdout))
    },
  )
})

function programOf(
  order: readonly Operation[],
  payloads: Readonly<Record<string, unknown>>,
  ids: Readonly<Record<string, string>>,
): string {
  const calls = order.map(({ id, method, path, parameters, media }) => {
    const inPath = Object.fromEntries(parameters.map((name) => [name, ids[name]]))
    const options = {
      params: {
        ...(parameters.length > 0 && { path: inPath }),
        ...(queries[id] && { query: queries[id] }),
      },
      ...(media !== undefined && { body: payloads[id] }),
    }
    const form = media === 'application/x-www-form-urlencoded'
    const serializer = form
      ? `, headers: { 'Content-Type': '${media}' }, bodySerializer: (form) => new URLSearchParams(form as {})`
      : ''
    const init = `{ ...(${JSON.stringify(options)} as const)${serializer}, parseAs: 'text' }`
    return `report('${id}', await client.${method}('${path}', ${init.replaceAll(' as const', '')}))`
  })
  return `import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'
export type Agent = components['schemas']['Agent']
const client = createClient<paths>({
  baseUrl: process.env.BASE ?? '',
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\` },
})
function report(operation: string, { response }: { response: Response }): void {
  console.log(JSON.stringify({ operation, status: response.status }))
}
${calls.join('\n')}
`
}

function linesOf(text: string): Report[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Report)
}

describe('the OpenAPI document', () => {
  test.skipIf(!spectral)('has no finding of Spectral 6.16.3, spectral:oas', async () => {
    await writeFile(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n')
    await using linter = run(spectral ?? '', [
      'lint',
      '--fail-severity=hint',
      '-r',
      join(folder, 'spectral.yaml'),
      document,
    ])
    const { code, stdout, stderr } = await linter.ended
    expect(code, stdout + stderr).toBe(0)
  })

  test.skipIf(!redocly)('has no finding of Redocly 2.77.0, recommended', async () => {
    const environment = { REDOCLY_TELEMETRY: 'off' }
    await using linter = run(
      redocly ?? '',
      ['lint', '--extends', 'recommended', '--format=json', document],
      environment,
    )
    const { stdout, stderr } = await linter.ended
    const { totals } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { totals: Record<string, number> }
    expect(totals, stdout + stderr).toMatchObject({ errors: 0, warnings: 0 })
  })
})
