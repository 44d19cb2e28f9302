import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { command, run, temporaryFolder } from '../support/command.ts'
import { everyScope, startGateway } from '../support/gateway.ts'
import { run as runProcess } from '../support/processes.ts'

const server = (name: string, extra: object = {}) =>
  JSON.stringify({
    packageName: name,
    name: `The ${name} server`,
    description: `Sends ${name} by pigeon.`,
    url: `https://example.com/${name}`,
    runtime: 'node',
    ...extra,
  })
const card = JSON.stringify({
  name: 'Pigeon Agent',
  description: 'Flies.',
  url: 'https://pigeon.example/a2a',
  skills: [{ id: 'fly', name: 'Fly', description: 'Flies home.', tags: ['test', 'Birds'] }],
})

const publication = {
  package_name: 'com.example.cli',
  name: 'Command',
  description: 'Published by hand.',
  endpoints: [{ protocol: 'a2a', url: 'https://example.com/a2a' }],
}

describe('the command line over a data folder', () => {
  test('sets quotas of owners and namespaces, and prints what they use', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    const set = await run(['quota', 'set', 'entries', '5', '--sub', 'ada'], environment)
    expect([set.code, set.stdout.split('\n').slice(0, 2)]).toEqual([
      0,
      ['ada (urn:dragoman:local)\tentries\t0\t5', 'ada (urn:dragoman:local)\tstage_entries\t0\t200'],
    ])
    const back = await run(['quota', 'set', 'entries', 'standard', '--sub', 'ada'], environment)
    expect(back.stdout).toContain('ada (urn:dragoman:local)\tentries\t0\t1000\n')
    await run(['quota', 'set', 'bytes', '7', '--namespace', 'com.team'], environment)
    const shown = await run(['usage', '--namespace', 'com.team', '--json'], environment)
    expect(JSON.parse(shown.stdout)).toMatchObject({
      accounts: [{ owner: null, namespace: 'com.team', quotas: [{}, {}, { quota: 'bytes', limit: 7 }, {}] }],
    })
    const own = await run(['usage'], environment)
    expect(own.stdout).toContain('person:local (urn:dragoman:local)\tentries\t0\tnone\n')
    const ranked = await run(['quota', 'list'], environment)
    expect(ranked.stdout).toBe('com.team\t0 %\tentries\t0\t1000\n')
    const wrong = await run(['quota', 'set', 'entries', 'many', '--sub', 'ada'], environment)
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('give a number, or standard')])
  })

  test('of many bad lines the first 20 are shown, with the command that shows all', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    const file = join(folder.path, 'bad.jsonl')
    await writeFile(file, '{"name": 1}\n{"packageName":\n'.repeat(15))
    const { code, stdout, stderr } = await run(['import', file], environment)
    const lines = stderr.trimEnd().split('\n')
    expect([code, stdout, lines.length]).toEqual([1, '0 created, 0 updated, 0 unchanged, 30 left out\n', 21])
    expect(lines.at(-1)).toMatch(/^and 10 lines more\. .* import \S+ --json > report\.json$/)
    const report = JSON.parse((await run(['import', file, '--json'], environment)).stdout)
    expect(report.rejected).toHaveLength(30)
  })

  test('imports, reports bad lines, and makes no changes the second time', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    const file = join(folder.path, 'list.jsonl')
    await writeFile(
      file,
      [
        server('letters'),
        '{"packageName":',
        card,
        server('@scope/Parcels', { runtime: 'python' }),
        server('nameless', { name: '' }),
      ].join('\n'),
    )
    const first = await run(['import', file, '--json'], environment)
    expect(first.code).toBe(1)
    const report = JSON.parse(first.stdout)
    expect(report).toMatchObject({ created: 3, updated: 0, unchanged: 0 })
    expect(report.rejected.map((item: { line: number }) => item.line)).toEqual([2, 5])
    expect(report.rejected[1].reason).toContain('name')
    const again = await run(['import', file], environment)
    expect(again.stdout).toBe('0 created, 0 updated, 3 unchanged, 2 left out\n')
    expect(again.stderr).toContain('line 2: Not JSON')

    const found = JSON.parse((await run(['search', 'parcels', '--json'], environment)).stdout)
    expect(found.agents[0]).toMatchObject({
      package_name: 'pypi.scope/parcels',
      verification_level: 'unclaimed',
      owner: null,
      packages: [{ registry_type: 'pypi', identifier: '@scope/Parcels' }],
    })
    const resolved = JSON.parse(
      (await run(['resolve', 'example.pigeon/pigeon-agent', '--json'], environment)).stdout,
    )
    expect(resolved.card.skills[0].id).toBe('fly')
    const birds = JSON.parse((await run(['search', '--tag', 'birds', '--json'], environment)).stdout)
    expect(birds.agents.map((agent: { tags: string[] }) => agent.tags)).toEqual([['birds']])
  })

  test('warns of tools that it does not list, and succeeds', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'list.jsonl')
    const tools = ['Sends.', 'Sends again.'].map((description) => ({ name: 'send', description }))
    await writeFile(file, server('letters', { tools }))
    const { code, stdout, stderr } = await run(['import', file], { DRAGOMAN_DATA: folder.path })
    expect([code, stdout]).toEqual([0, '1 created, 0 updated, 0 unchanged, 0 left out, 1 warning\n'])
    expect(stderr).toMatch(/^line 1: warning: Several capabilities have the name "send": /)
  })

  test('publishes, goes live and calls', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    const file = join(folder.path, 'agent.json')
    await writeFile(file, JSON.stringify(publication))
    expect((await run(['publish', file, '--live'], environment)).stdout).toMatch(
      /^com\.example\.cli ACTIVE [0-9a-f-]{36}\n$/,
    )
    for (const params of [['{"query":"published by hand"}'], ['query=published by hand', 'limit:=3']]) {
      const called = await run(['call', 'custom.svc.registry', 'search', ...params], environment)
      expect(JSON.parse(called.stdout).agents[0].package_name).toBe('com.example.cli')
    }
  })

  test.each([
    [['search', '--limit', 'many'], 2],
    [['nonsense'], 2],
    [['search', '--nonsense'], 2],
    [['call', 'svc.registry', 'search', 'not json'], 2],
    [['resolve', 'com.example.nobody'], 4],
    [['call', 'svc.registry', 'nothing'], 4],
    [['import', 'no-such-file.jsonl'], 2],
    [['call', 'svc.utility.wiki', 'lookup', '{"query":"x"}'], 1],
    [['token', 'create', '--sub', 'me', '--scope', 'everything'], 2],
    [['--version'], 0],
    [['--help'], 0],
  ])('%j ends with %i, data on standard output and words on standard error', async (args, code) => {
    await using folder = await temporaryFolder()
    const ended = await run(args, { DRAGOMAN_DATA: folder.path })
    expect(ended.code).toBe(code)
    if (code > 0) expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(/\w/) })
    expect(ended.stderr).not.toMatch(/ {4}at /)
  })

  test('a configuration that is wrong names the variable', async () => {
    const ended = await run(['serve'], { PORT: 'eighty', DRAGOMAN_BASE_URL: 'example.com' })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(/PORT.*DRAGOMAN_BASE_URL/s)
  })

  test('doctor reports each setting that is wrong', async () => {
    const ended = await run(['doctor'], { PORT: 'eighty', DRAGOMAN_BASE_URL: 'example.com' })
    expect(ended).toMatchObject({ code: 1, stderr: '' })
    expect(ended.stdout).toMatch(/^FAIL settings: PORT: .+\nFAIL settings: DRAGOMAN_BASE_URL: /)
  })

  test('doctor says in its own lines, and in nothing else, what a start would log', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    const file = join(folder.path, 'list.jsonl')
    await writeFile(file, server('letters'))
    await run(['import', file], environment)
    const database = new DatabaseSync(join(folder.path, 'registry.sqlite'))
    database.exec(`update entry set document = '{}' where package_name like '%letters%'`)
    database.close()
    await rm(join(folder.path, 'index'), { recursive: true, force: true })
    const doctor = runProcess(process.execPath, [command, 'doctor'], environment)
    const { code, stdout, stderr } = await doctor.ended
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout.match(/^FAIL.*$/gm)).toEqual([
      expect.stringMatching(/^FAIL start: The stored entry [0-9a-f-]{36} cannot be read\.$/),
    ])
  })

  test('doctor shows what is set, and describes the rest on request', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path, PORT: '8123', DRAGOMAN_FINNHUB_KEY: 'hush-hush' }
    const { stdout } = await run(['doctor'], environment)
    expect(stdout).toMatch(/\n {5}DRAGOMAN_FINNHUB_KEY=\(set\)\n {5}PORT=8123\n/)
    expect(stdout).not.toContain('DRAGOMAN_CALL_IDLE')
    const { stdout: all } = await run(['doctor', '--settings'], environment)
    const widest = Math.max(...stdout.split('\n').map((line) => line.length))
    expect(widest, stdout).toBeLessThan(200)
    expect(all).toMatch(/^DRAGOMAN_CALL_IDLE=60$/m)
  })

  test('doctor says who may read the settings, where it cannot', async () => {
    await using folder = await temporaryFolder()
    await mkdir(join(folder.path, 'dragoman.json'))
    const { code, stdout } = await run(['doctor'], { DRAGOMAN_DATA: folder.path })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^FAIL settings: .+ cannot be read \(EISDIR\)\. Run the command as the user of the gateway/m,
    )
  })

  test('doctor finds a damaged database, and whether a gateway runs', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    await run(['search', 'wiki'], environment)
    const whole = await run(['doctor'], environment)
    expect(whole.stdout).toMatch(/^ok {3}gateway: none runs over this data folder$/m)
    expect(whole.stdout).toMatch(/^ok {3}store: /m)
    const path = join(folder.path, 'registry.sqlite')
    const content = await readFile(path)
    content.fill(7, content.length / 2, content.length / 2 + 8192)
    await writeFile(path, content)
    const { code, stdout } = await run(['doctor'], environment)
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^FAIL store: .+ is damaged \(.+\)\. Stop the gateway/m),
    ])
  })

  test('prints no error when its reader stops reading', async () => {
    await using folder = await temporaryFolder()
    const script = `DRAGOMAN_DATA=${folder.path} ${process.execPath} ${command} doctor | head -1`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script])
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^ok {3}node/), ''])
  })

  test.skipIf(process.platform !== 'linux')(
    'says in one line that its output cannot be written',
    async () => {
      const script = `${process.execPath} ${command} --help > /dev/full; echo $?`
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script])
      expect([stdout, stderr]).toEqual([
        '1\n',
        expect.stringMatching(/^The output cannot be written: ENOSPC.+\n$/),
      ])
    },
  )

  test('resolves a version of an agent, and not its own', async () => {
    await using folder = await temporaryFolder()
    const resolved = ['resolve', 'svc.utility.wiki', '--version']
    const { code, stderr } = await run([...resolved, '99.0.0'], { DRAGOMAN_DATA: folder.path })
    expect([code, stderr]).toEqual([4, expect.stringContaining('99.0.0')])
    const { stdout } = await run([...resolved, 'latest'], { DRAGOMAN_DATA: folder.path })
    expect(JSON.parse(stdout).package_name).toBe('svc.utility.wiki')
  })

  test('finds the hosted agents at the first start already', async () => {
    await using folder = await temporaryFolder()
    const { stdout } = await run(['search', 'wiki', '--json'], { DRAGOMAN_DATA: folder.path })
    expect(JSON.parse(stdout).agents[0].package_name).toBe('svc.utility.wiki')
  })

  test('doctor lists every setting and hides secrets', async () => {
    await using folder = await temporaryFolder()
    const ended = await run(['doctor', '--json'], {
      DRAGOMAN_DATA: folder.path,
      DRAGOMAN_FINNHUB_KEY: 'hush-hush',
    })
    expect(ended.code).toBe(0)
    expect(ended.stdout).not.toContain('hush-hush')
    const { checks, settings } = JSON.parse(ended.stdout)
    expect(checks.every((check: { ok: boolean }) => check.ok)).toBe(true)
    expect(settings.map((setting: { name: string }) => setting.name)).toContain('DRAGOMAN_CONTACT')
  })

  test('doctor reports a host that callers cannot use', async () => {
    await using folder = await temporaryFolder()
    const { code, stdout } = await run(['doctor'], { DRAGOMAN_DATA: folder.path, HOST: '0.0.0.0' })
    expect(code).toBe(1)
    expect(stdout).toContain('FAIL address: HOST is 0.0.0.0: set DRAGOMAN_BASE_URL')
  })
})

describe('the command line as a client of a running gateway', () => {
  test('does the same by DRAGOMAN_URL and a token', async () => {
    await using home = await startGateway()
    await using folder = await temporaryFolder()
    const token = await home.token('remote', { scopes: ['admin'] })
    const environment = {
      DRAGOMAN_URL: home.url,
      DRAGOMAN_TOKEN: token,
      DRAGOMAN_DATA: join(folder.path, 'unused'),
    }
    const file = join(folder.path, 'list.jsonl')
    await writeFile(file, server('letters'))
    expect((await run(['import', file], environment)).stdout).toContain('1 created')
    expect((await run(['search', 'letters', '--json'], environment)).stdout).toContain('npm.letters')
    const { code, stdout } = await run(['doctor', '--json'], environment)
    expect([code, JSON.parse(stdout).checks[1].detail]).toEqual([0, expect.stringContaining(home.url)])
  })

  test('token create asks that gateway for a credential, which it accepts', async () => {
    await using home = await startGateway()
    await using folder = await temporaryFolder()
    const unused = join(folder.path, 'unused')
    const as = (token: string) => ({
      DRAGOMAN_URL: home.url,
      DRAGOMAN_TOKEN: token,
      DRAGOMAN_DATA: unused,
    })
    const create = ['token', 'create', '--scope', 'agents:read']
    const key = await run(create, as(await home.token('ada')))
    expect([key.code, key.stderr, key.stdout]).toEqual([0, '', expect.stringMatching(/^drg_\S{52}\n$/)])
    const token = await run(create, as(key.stdout.trim()))
    expect([token.code, token.stdout]).toEqual([0, expect.stringMatching(/^eyJ\S+\n$/)])
    for (const { stdout } of [key, token]) expect((await run(['transfers'], as(stdout.trim()))).code).toBe(0)
    const other = await run(['token', 'create', '--sub', 'bob'], as(await home.token('ada')))
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('Leave out --sub')])
    expect(existsSync(unused)).toBe(false)
  })

  test('a refusal has its exit code', async () => {
    await using home = await startGateway()
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'agent.json')
    await writeFile(file, JSON.stringify(publication))
    const ended = await run(['publish', file, '--json'], { DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: 'bad' })
    expect(ended.code).toBe(3)
    expect(JSON.parse(ended.stderr).code).toBe('unauthenticated')
    const unanswered = await run(['search', 'x'], { DRAGOMAN_URL: 'http://127.0.0.1:1' })
    expect([unanswered.code, unanswered.stderr]).toEqual([1, expect.stringContaining('does not answer')])
  })

  test('validates, verifies, suspends, transfers and shows the log of an agent', async () => {
    await using folder = await temporaryFolder()
    await using home = await startGateway({}, { resolveTxt: async () => [] })
    const token = await home.token('local', { scopes: [...everyScope, 'admin'] })
    const environment = { DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: token }
    const [card, bad] = [join(folder.path, 'card.json'), join(folder.path, 'bad.json')]
    await writeFile(card, JSON.stringify({ ...publication, package_name: 'com.example.trusted' }))
    await writeFile(bad, JSON.stringify({ description: 'Nameless.' }))
    const valid = await run(['validate', card, '--json'], environment)
    expect([valid.code, JSON.parse(valid.stdout).valid]).toEqual([0, true])
    const invalid = await run(['validate', bad], environment)
    expect(invalid.code).toBe(1)
    expect(invalid.stdout).toContain(
      'error /name An agent cannot be listed without it. Add name. (missing_field)',
    )

    await run(['publish', card, '--live'], environment)
    const verified = await run(['verify', 'com.example.trusted', '--method', 'dns'], environment)
    expect(verified.code).toBe(1)
    expect(verified.stdout).toMatch(/dns: {2}TXT _dragoman-challenge\.example\.com dragoman-verify=\S{43}/)
    expect((await run(['report', 'com.example.trusted', '--reason', 'broken'], environment)).code).toBe(0)
    const suspended = await run(['suspend', 'com.example.trusted', '--reason', 'It lied.'], environment)
    expect(suspended.stdout).toBe('com.example.trusted is suspended\n')
    const updated = await run(['update', 'com.example.trusted', card], environment)
    expect(updated.stderr).toBe('It is hidden until an admin lifts its suspension: It lied.\n')
    const listed = await run(['suspended'], environment)
    expect(listed.stdout).toMatch(/^com\.example\.trusted\tlocal\tACTIVE\t20\S+Z\tlocal\tIt lied\.\n$/)
    await run(['suspend', 'com.example.trusted', '--lift'], environment)
    expect(JSON.parse((await run(['suspended', '--json'], environment)).stdout)).toEqual({
      agents: [],
      next_cursor: null,
    })
    const transferred = await run(['transfer', 'com.example.trusted', '--to', 'heir'], environment)
    expect(transferred.stdout).toBe('com.example.trusted belongs to heir\n')
    const { stdout } = await run(['audit', 'com.example.trusted', '--json'], environment)
    expect(JSON.parse(stdout).events.map((event: { action: string }) => event.action)).toEqual([
      'transfer',
      'lift_suspension',
      'suspend',
      'report',
      'go_live',
      'publish',
    ])
    const lines = (await run(['audit', 'com.example.trusted'], environment)).stdout
    expect(lines).toMatch(/\tsuspend\tlocal\tr\d+\tIt lied\. · suspended\n/)
    const claimed = await run(['claim', 'com.example.trusted', '--method', 'dns'], environment)
    expect(claimed.code).toBe(1)
    expect(claimed.stdout).toContain('TXT _dragoman-challenge.example.com')
  })

  test('an admin reads which issuer a person is of, and is told where a revocation does not name one', async () => {
    await using folder = await temporaryFolder()
    const logins = [
      { kind: 'oidc', id: 'corp', title: 'Corp', issuer: 'http://127.0.0.1:1', client_id: 'dragoman' },
    ]
    await using home = await startGateway({ DRAGOMAN_LOGINS: JSON.stringify(logins) })
    const token = await home.token('root', { scopes: [...everyScope, 'admin'] })
    const environment = { DRAGOMAN_URL: home.url, DRAGOMAN_TOKEN: token }
    const card = join(folder.path, 'card.json')
    await writeFile(card, JSON.stringify({ ...publication, package_name: 'com.example.moderated' }))
    await run(['publish', card], environment)
    const issuer = ['--issuer', 'http://127.0.0.1:1']
    await run(['transfer', 'com.example.moderated', '--to', 'mallory', ...issuer], environment)
    await run(['suspend', 'com.example.moderated', '--reason', 'It lied.'], environment)
    const { stdout } = await run(['suspended'], environment)
    expect(stdout).toMatch(
      /^com\.example\.moderated\tmallory \(http:\/\/127\.0\.0\.1:1\)\tSTAGE\t\S+\troot\t/,
    )
    const unnamed = await run(['token', 'revoke', '--sub', 'mallory'], environment)
    expect(unnamed.stdout).toBe('revoked all that was issued to mallory\n')
    expect(unnamed.stderr).toBe('A person of a login or of another issuer is named with --issuer.\n')
    expect((await run(['token', 'revoke', '--sub', 'mallory', ...issuer], environment)).stderr).toBe('')
  })

  test('offers an agent, lists and withdraws the offer, and accepts it', async () => {
    await using folder = await temporaryFolder()
    await using home = await startGateway()
    const card = join(folder.path, 'card.json')
    await writeFile(card, JSON.stringify({ ...publication, package_name: 'com.example.offered' }))
    const as = async (subject: string) => ({
      DRAGOMAN_URL: home.url,
      DRAGOMAN_TOKEN: await home.token(subject),
    })
    const [ada, bob] = [await as('ada'), await as('bob')]
    await run(['publish', card, '--live'], ada)
    const offer = ['transfer', 'com.example.offered', '--to', 'bob']
    expect((await run(offer, ada)).stdout).toBe(
      'com.example.offered is offered to bob, who gets it by accept-transfer\n',
    )
    expect((await run(['transfers'], bob)).stdout).toMatch(/^com\.example\.offered\tada\tbob\t20/)
    expect((await run(['transfers', '--made'], bob)).stdout).toBe('')
    expect((await run(['transfers', '--made'], ada)).stdout).toMatch(/^com\.example\.offered/)
    const withdrawal = await run(['transfer', 'com.example.offered', '--withdraw'], ada)
    expect(withdrawal.stdout).toBe('com.example.offered is offered to nobody\n')
    expect((await run(['transfer', 'com.example.offered'], ada)).code).toBe(2)
    expect((await run(['accept-transfer', 'com.example.offered'], bob)).stderr).toContain('wrong_state')
    await run(offer, ada)
    const accepted = await run(['accept-transfer', 'com.example.offered'], bob)
    expect(accepted.stdout).toBe('com.example.offered is yours\n')
  })
})
