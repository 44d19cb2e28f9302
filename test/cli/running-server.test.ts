import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  announceServer,
  findServer,
  proofHeader,
  proofOf,
  receivedChallenge,
} from '../../src/app/running-server.ts'
import { serve as serveHttp } from '../net/support.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { serve } from '../support/serve.ts'

test('a search asks the server over the data folder, as nobody, and finds what was written last', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  const environment = { DRAGOMAN_DATA: data, DRAGOMAN_TOKEN: 'not-for-others' }
  await using home = await serve(data)
  const file = join(data, 'server.json')
  expect([(await stat(file)).mode & 0o777, JSON.parse(await readFile(file, 'utf8')).url]).toEqual([
    0o600,
    home.url,
  ])
  expect(await findServer({ data, DATABASE_URL: undefined })).toBe(home.url)
  const agent = join(folder.path, 'agent.json')
  const described = ['--name', 'Zeppelin', '--description', 'Flies.', '--endpoint', 'https://example.com/a2a']
  await run(['init', agent, '--package-name', 'com.example.newest', ...described], {})
  await run(['publish', agent, '--live'], environment)
  const search = async () => JSON.parse((await run(['search', 'zeppelin', '--json'], environment)).stdout)
  expect((await search()).agents).toHaveLength(1)
  // Words are found at once, the meaning a moment later.
  await expect.poll(async () => (await search()).agents[0].match.similarity).not.toBeNull()
  const answer = await search()
  const [found] = answer.agents
  // Only its owner and admins see the subject, and the operator is an admin.
  expect([found.package_name, found.owner.subject]).toEqual(['com.example.newest', undefined])
  // The data folder answers the same.
  home.process.kill('SIGTERM')
  await home.ended
  expect(existsSync(file)).toBe(false)
  const local = await search()
  const withoutAddress = ({ manifest_url: _, ...agent }: Record<string, unknown>) => agent
  expect(local.agents.map(withoutAddress)).toEqual(answer.agents.map(withoutAddress))
}, 30_000)

test('a host gets the address at which the gateway over the data folder listens', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await using home = await serve(data)
  const shown = ['install', 'svc.utility.reader', '--host', 'cursor', '--dry-run']
  const { stdout } = await run(shown, { DRAGOMAN_DATA: data })
  expect(stdout).toContain(`"${home.url}/mcp/agents/svc.utility.reader"`)
})

test('doctor shows each reason for which the gateway needs its operator, and a store other than its own, with what to do', async () => {
  await using folder = await temporaryFolder()
  const config = { data: folder.path, DATABASE_URL: undefined }
  const secret = 'secret'
  const reasons = ['store_behind_index', 'keys_differ', 'tired']
  await using server = await serveHttp((request, response) => {
    const proof = proofOf(secret, String(request.headers[receivedChallenge]))
    response.writeHead(200, { [proofHeader]: proof }).end(JSON.stringify({ status: 'degraded', reasons }))
  })
  const url = server.origin
  {
    await using _ = await announceServer(config, url, secret, () => {})
    const { code, stdout } = await run(['doctor'], { DRAGOMAN_DATA: folder.path })
    expect(code).toBe(1)
    expect(stdout).toContain(`ok   gateway: runs at ${url}\n`)
    expect(stdout).toMatch(/^FAIL gateway: store_behind_index: .+\. Restore a newer backup /m)
    expect(stdout).toMatch(/^FAIL gateway: keys_differ: .+\. Copy keys\/ /m)
    expect(stdout).toMatch(/^FAIL gateway: tired: docs\/monitoring\.md of its version says what to do$/m)
    // The other checks are made all the same.
    expect(stdout).toMatch(/^ok {3}registry: /m)
    const elsewhere = await run(['doctor'], { DRAGOMAN_URL: url })
    expect(elsewhere.stdout).toMatch(/^FAIL gateway: keys_differ: .+\. Copy keys\/ /m)
  }
  await using _ = await announceServer(
    { ...config, DATABASE_URL: 'postgresql://db.test/a' },
    url,
    secret,
    () => {},
  )
  const { code, stdout } = await run(['doctor'], { DRAGOMAN_DATA: folder.path })
  expect(code).toBe(1)
  const differing = `FAIL gateway: the one at ${url} uses PostgreSQL at db.test/a, and commands use SQLite in `
  expect(stdout).toContain(differing)
  expect(stdout).toContain(
    `Set the same DATABASE_URL for both, for commands in ${folder.path}/dragoman.json.`,
  )
})

test('a check is made by the server over the data folder, whose settings say what it reaches', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await using server = await serveHttp((_, response) => response.end('{}'))
  const { origin } = server
  const file = join(folder.path, 'agent.json')
  const endpoints = [{ protocol: 'envelope', url: `${origin}/a2a` }]
  const publication = {
    package_name: 'com.example.local',
    name: 'Local',
    description: 'Runs here.',
    endpoints,
  }
  await writeFile(file, JSON.stringify(publication))
  // The first start writes its settings into the data folder, and the environment wins.
  const other = { DRAGOMAN_DATA: data, DRAGOMAN_ALLOW_ORIGINS: 'http://127.0.0.1:1' }
  const check = () => run(['check', 'com.example.local'], other)
  {
    await using home = await serve(data, { DRAGOMAN_ALLOW_ORIGINS: origin, DRAGOMAN_LIVENESS: 'off' })
    await run(['publish', file, '--live'], { DRAGOMAN_DATA: data })
    expect(await check()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^com\.example\.local alive\n/),
    })
    home.process.kill('SIGTERM')
    await home.ended
  }
  const alone = await check()
  expect([alone.code, alone.stdout]).toEqual([1, expect.stringContaining('blocked_address')])
}, 30_000)

test('an export is not imported under a server that runs', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  const environment = { DRAGOMAN_DATA: data }
  const file = join(folder.path, 'export.jsonl')
  await using home = await serve(data)
  expect((await run(['export', file], environment)).code).toBe(0)
  expect(await run(['import', file, '--replace'], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`A gateway runs over this store, at ${home.url}.`),
  })
  home.process.kill('SIGTERM')
  await home.ended
  expect((await run(['import', file, '--replace'], environment)).code).toBe(0)
}, 30_000)

test('of three servers over one folder, the oldest is known again when the others have ended, the middle one first', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  const config = { data, DATABASE_URL: undefined }
  await using first = await serve(data)
  await using second = await serve(data)
  await using third = await serve(data)
  await expect.poll(() => findServer(config)).toBe(third.url)
  second.process.kill('SIGTERM')
  await second.ended
  expect(await findServer(config)).toBe(third.url)
  // Without a trace, and with its file.
  third.process.kill('SIGKILL')
  await third.ended
  await expect.poll(() => findServer(config), { timeout: 20_000 }).toBe(first.url)
  first.process.kill('SIGTERM')
  await first.ended
  expect(existsSync(join(data, 'server.json'))).toBe(false)
}, 60_000)

test('a file of a server that has ended is harmless: whoever listens there cannot prove to be that server', async () => {
  await using folder = await temporaryFolder()
  const config = { data: folder.path, DATABASE_URL: undefined }
  const requests: IncomingMessage[] = []
  await using server = await serveHttp((request, response) => {
    requests.push(request)
    response.setHeader('Dragoman-Proof', 'a'.repeat(64))
    response.end('{"status": "ready", "applied_revision": 9, "revision": 9}')
  })
  const url = server.origin
  {
    await using _announced = await announceServer(config, url, 'secret', () => {})
    const { stdout } = await run(['search', 'wiki'], { DRAGOMAN_DATA: folder.path, DRAGOMAN_TOKEN: 'mine' })
    expect(stdout).toMatch(/^svc\.utility\.wiki\t/)
  }
  expect(requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/readyz', undefined]])
  await writeFile(join(folder.path, 'server.json'), JSON.stringify({ url, secret: 'x', store: 'elsewhere' }))
  expect(await findServer(config)).toBeUndefined()
})

test('a server proves itself to a challenge alone', async () => {
  await using home = await startGateway()
  const plain = await home.request('GET', '/readyz')
  expect(plain.headers.get('Dragoman-Proof')).toBeNull()
  const [first, second] = [
    await home.request('GET', '/readyz', { headers: { 'Dragoman-Challenge': 'a' } }),
    await home.request('GET', '/readyz', { headers: { 'Dragoman-Challenge': 'b' } }),
  ]
  const proofs = [first, second].map(({ headers }) => headers.get('Dragoman-Proof'))
  expect(proofs).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)])
  expect(proofs[0]).not.toBe(proofs[1])
})
