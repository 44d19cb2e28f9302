import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayOptions } from '../../src/app/runtime.ts'
import { startGateway } from '../support/gateway.ts'
import { createTestRunner } from '../support/package-runner.ts'

const well = {
  registryType: 'npm',
  identifier: '@example/well',
  version: '1.0.0',
  transport: { type: 'stdio' },
}
/** The server of tests misbehaves by its first argument. */
const misbehaving = (kind: string) => ({
  ...well,
  packageArguments: [{ type: 'positional', value: kind, valueHint: 'kind' }],
})
const keyed = {
  ...well,
  environmentVariables: [
    { name: 'API_KEY', isSecret: true, isRequired: true },
    { name: 'MODE', choices: ['fast', 'slow'] },
  ],
}

async function open(settings: Record<string, string> = {}, options: GatewayOptions = {}) {
  const runner = createTestRunner({ '@example/well': ['1.0.0', '1.1.0'] })
  const home = await startGateway(settings, { runner, ...options })
  const token = await home.token('ada')
  const admin = await home.token('root', { scopes: ['admin'] })
  const send = async (to: string, action: string, params: object = {}, by = token) =>
    (await home.request('POST', '/a2a/message', { body: { to, action, params }, token: by })).json
  const approve = (agent: string, more: object = {}) =>
    send('svc.registry', 'approve_package', { agent, ...more }, admin)
  /** Lists a package as a mirror does: nobody owns the entry. */
  const list = async (name: string, source: object, version = '1.0.0') => {
    const document = { name, description: `The package ${name}.`, version, packages: [source] }
    const lines = [JSON.stringify({ server: document })]
    const report = await send('svc.registry', 'import_entries', { lines }, admin)
    expect(report.rejected).toEqual([])
  }
  const actionsIn = async (agent: string): Promise<string[]> =>
    (await send('svc.registry', 'audit', { agent }, admin)).events.map(
      ({ action }: { action: string }) => action,
    )
  return { runner, home, token, admin, send, approve, list, actionsIn }
}
type Opened = Awaited<ReturnType<typeof open>>

describe('an agent that is a package', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    await opened?.home[Symbol.asyncDispose]()
  })

  test('is started neither by a search, nor by a look at it, nor before it is approved', async () => {
    const { home, list, send, runner, actionsIn } = opened
    await list('com.example/first', well)
    expect((await send('svc.registry', 'search', { query: 'package first' })).total).toBeGreaterThan(0)
    await send('svc.registry', 'check', { agent: 'com.example/first' })
    expect((await home.request('GET', '/public/agents/com.example%2Ffirst')).json).toMatchObject({
      callable: 'package',
      callable_reason: expect.stringContaining('The operator can approve'),
    })
    expect(await send('com.example/first', 'echo', { text: 'a' })).toMatchObject({
      code: 'approval_required',
      hint: expect.stringMatching(/^Ask the operator(?!.*dragoman allow)/),
    })
    await send('com.example/first', 'echo', { text: 'again' })
    expect(runner.starts).toEqual([])
    expect((await actionsIn('com.example/first')).filter((action) => action === 'refuse_start')).toHaveLength(
      1,
    )
  })

  test('whose publisher names an argument by words of a shell has the words quoted in the refusal', async () => {
    const { list, send, approve } = opened
    const argument = { type: 'positional', valueHint: "$(touch x)'; y", isRequired: true }
    await list('com.example/quoted', { ...well, packageArguments: [argument] })
    const unapproved = await send('com.example/quoted', 'echo')
    expect(unapproved.hint).toContain(`It needs values: "$(touch x)'; y". A model`)
    await approve('com.example/quoted')
    const unfilled = await send('com.example/quoted', 'echo')
    expect(`${unfilled.detail} ${unfilled.hint}`).toMatch(/value of "\$\(touch x\)'; y"\. Ask the operator/)
  })

  test('answers once it is approved, by one process, and its tools stand in the index with their schemas', async () => {
    const { home, list, send, approve, runner, actionsIn } = opened
    await list('com.example/well', well)
    const report = await approve('com.example/well')
    expect(report).toMatchObject({
      agent: 'com.example/well',
      package: { version: '1.0.0', hosts: [], lock: expect.any(String) },
      problem: null,
    })
    const before = runner.starts.length
    expect(await send('com.example/well', 'echo', { text: 'a' })).toEqual({ text: 'a' })
    expect(await send('com.example/well', 'echo', { text: 'b' }, await home.token('eve'))).toEqual({
      text: 'b',
    })
    expect(runner.starts).toHaveLength(before + 1)
    const { json } = await home.request('GET', '/public/agents/com.example%2Fwell')
    expect(json.reading).toMatchObject({ status: 'ok', lists: true, package_version: '1.0.0' })
    const echo = json.capabilities.find(({ name }: { name: string }) => name === 'echo')
    expect(echo.input_schema).toEqual({ type: 'object', properties: { text: { type: 'string' } } })
    expect(await actionsIn('com.example/well')).toEqual(
      expect.arrayContaining(['approve_package', 'start', 'read']),
    )
  })

  test('is told from the others to a model while it is approved', async () => {
    const { list, send, approve, admin } = opened
    await list('com.example/knitting', well)
    const found = async () => {
      const params = { query: 'The package com.example/knitting.', limit: 1, detail: 'brief' }
      const { agents, notice } = await send('svc.registry', 'search', params)
      const shown = await send('svc.registry', 'resolve_package', {
        agent: 'com.example/knitting',
        detail: 'brief',
      })
      return [
        agents[0].package_name,
        agents[0].approved,
        shown.approved,
        /once it is approved/.test(notice + shown.next),
      ]
    }
    expect(await found()).toEqual(['com.example/knitting', undefined, undefined, true])
    await approve('com.example/knitting')
    expect(await found()).toEqual(['com.example/knitting', true, true, false])
    await send('svc.registry', 'revoke_approval', { agent: 'com.example/knitting' }, admin)
    expect(await found()).toEqual(['com.example/knitting', undefined, undefined, true])
  })

  test('is shown by a dry run, which approves nothing', async () => {
    const { list, send, approve, runner } = opened
    await list('com.example/planned', keyed)
    const installs = runner.installs.length
    expect(await approve('com.example/planned', { dry_run: true, hosts: ['api.example.com'] })).toMatchObject(
      {
        package: {
          hosts: ['api.example.com'],
          lock: null,
          values: [{ name: 'API_KEY', secret: true, value: null }],
        },
        missing: ['API_KEY'],
        tools: null,
      },
    )
    expect(runner.installs).toHaveLength(installs)
    expect((await send('com.example/planned', 'echo')).code).toBe('approval_required')
  })

  test('is shown with a warning for each folder that its sandbox does not show', async () => {
    const { list, approve } = opened
    await list('com.example/folders', well)
    const more_arguments = ['/srv/files', '/home/package', '/tmp/files', '--all']
    expect((await approve('com.example/folders', { dry_run: true, more_arguments })).warnings).toEqual([
      'Its sandbox shows no folder /srv/files; its own one is /home/package. For work on folders of yours, install it in a host: dragoman install com.example/folders.',
    ])
  })

  test('is approved again when its entry states another version', async () => {
    const { list, send, approve } = opened
    await list('com.example/moving', well)
    await approve('com.example/moving')
    expect(await send('com.example/moving', 'echo', { text: 'a' })).toEqual({ text: 'a' })
    await list('com.example/moving', { ...well, version: '1.1.0' }, '1.1.0')
    const refused = await send('com.example/moving', 'echo', { text: 'a' })
    expect(refused).toMatchObject({
      code: 'approval_required',
      detail: expect.stringContaining('another version (1.0.0 before, 1.1.0 now)'),
    })
    await approve('com.example/moving')
    expect(await send('com.example/moving', 'echo', { text: 'a' })).toEqual({ text: 'a' })
  })

  test('is refused if its digest has changed since it was shown', async () => {
    const { list, approve, runner } = opened
    await list('com.example/changed', well)
    const { package: shown } = await approve('com.example/changed', { dry_run: true })
    runner.digests.set('@example/well', 'sha512-other')
    expect(await approve('com.example/changed', { integrity: shown.integrity })).toMatchObject({
      code: 'precondition_failed',
    })
    runner.digests.delete('@example/well')
  })

  test('without a version is pinned to the newest one', async () => {
    const { list, approve, runner, send } = opened
    const { version: _, ...unpinned } = well
    await list('com.example/newest', unpinned)
    expect((await approve('com.example/newest')).package.version).toBe('1.1.0')
    runner.versions.get('@example/well')?.push('1.2.0')
    expect(await send('com.example/newest', 'echo', { text: 'a' })).toEqual({ text: 'a' })
    expect(runner.starts.at(-1)?.resolved.source.version).toBe('1.1.0')
  })

  test('stops when its approval is revoked', async () => {
    const { admin, list, send, approve, home } = opened
    await list('com.example/revoked', well)
    await approve('com.example/revoked')
    await send('com.example/revoked', 'echo', { text: 'a' })
    const path = '/api/agents/com.example%2Frevoked/approval'
    expect((await home.request('DELETE', path, { token: admin })).status).toBe(204)
    const { starts, forgotten } = opened.runner
    expect(forgotten.at(-1)).toBe(starts.at(-1)?.home)
    expect((await send('com.example/revoked', 'echo', { text: 'a' })).code).toBe('approval_required')
    expect((await home.request('DELETE', path, { token: admin })).status).toBe(404)
  })

  test('is ended by the end of its approval even during a call and during its start', async () => {
    const { admin, list, send, approve, home, runner } = opened
    await list('com.example/ended', well)
    await approve('com.example/ended')
    const path = '/api/agents/com.example%2Fended/approval'
    const revoke = async () => expect((await home.request('DELETE', path, { token: admin })).status).toBe(204)
    const count = runner.running()
    await send('com.example/ended', 'echo', { text: 'a' })
    expect(runner.running()).toBe(count + 1)
    const hanging = send('com.example/ended', 'hang')
    await send('com.example/ended', 'echo', { text: 'the other call has begun' })
    await revoke()
    expect((await hanging).code).toBe('upstream_failed')
    await expect.poll(() => runner.running()).toBe(count)

    await approve('com.example/ended')
    await expect.poll(() => runner.running()).toBe(count)
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    runner.beforeStart = () => {
      begun.resolve()
      return gate.promise
    }
    const starting = send('com.example/ended', 'echo', { text: 'a' })
    await begun.promise
    await revoke()
    gate.resolve()
    runner.beforeStart = async () => {}
    expect((await starting).code).toBe('approval_required')
    await expect.poll(() => runner.running()).toBe(count)
  })

  test('does not start although its approval was revoked by another process a moment ago', async () => {
    const { home, list, approve, send, runner } = opened
    await list('com.example/elsewhere', well)
    await approve('com.example/elsewhere')
    const { entry_id } = (await home.gateway.store.approvals.list('operator')).at(-1) ?? {}
    runner.beforeStart = async () => {
      runner.beforeStart = async () => {}
      expect(await home.gateway.store.approvals.remove('operator', String(entry_id))).toBe(true)
    }
    const running = runner.running()
    expect((await send('com.example/elsewhere', 'echo', { text: 'a' })).code).toBe('approval_required')
    await expect.poll(runner.running).toBe(running)
  })

  test('of a name that looks like that of an approved one is told from it', async () => {
    const { list, approve, runner } = opened
    for (const identifier of ['paypal-server', 'paypaI-server']) {
      runner.versions.set(identifier, ['1.0.0'])
      await list(`com.example/${identifier.toLowerCase()}-${identifier.length}${identifier.charCodeAt(5)}`, {
        ...well,
        identifier,
      })
    }
    expect((await approve(`com.example/paypal-server-13108`)).warnings).toEqual([])
    const { warnings } = await approve(`com.example/paypai-server-1373`, { dry_run: true })
    expect(warnings).toContainEqual(
      'Its name looks like paypal-server, which is approved and is another package.',
    )
  })

  test.each(['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'PYTHONPATH', 'npm_config_registry'])(
    'never gets %s',
    async (name) => {
      const { list, approve } = opened
      await list('com.example/well', well)
      expect((await approve('com.example/well', { variables: { [name]: 'x' } })).code).toBe('not_installable')
    },
  )

  test('gets shell syntax as it is', async () => {
    const { list, approve, send } = opened
    await list('com.example/shell', well)
    const odd = '$(touch /tmp/x); `id` | "&& \\'
    await approve('com.example/shell', { more_arguments: ['well', odd], variables: { MODE: odd } })
    expect(await send('com.example/shell', 'facts')).toMatchObject({ args: ['well', odd], mode: odd })
  })

  describe('with a secret', () => {
    test('does not start for a caller without it, and tells how to store it', async () => {
      const { list, approve, send } = opened
      await list('com.example/keyed', keyed)
      expect(await approve('com.example/keyed', { variables: { MODE: 'fast' } })).toMatchObject({
        missing: ['API_KEY'],
        tools: null,
        problem: expect.stringContaining('API_KEY'),
      })
      expect(await send('com.example/keyed', 'facts')).toMatchObject({
        code: 'not_callable',
        hint: expect.stringContaining('set_credential'),
      })
    })

    test('has a process for each caller with another one', async () => {
      const { home, send } = opened
      const processes = new Set<number>()
      for (const name of ['ada', 'eve', 'ada']) {
        const by = await home.token(name)
        const body = { variable: 'API_KEY', value: `key-of-${name}` }
        const path = '/api/agents/com.example%2Fkeyed/credential'
        if (!processes.has(0)) await home.request('PUT', path, { token: by, body })
        const facts = await send('com.example/keyed', 'facts', {}, by)
        expect(facts).toMatchObject({ key: `key-of-${name}`, mode: 'fast' })
        processes.add(facts.pid)
      }
      expect(processes.size).toBeGreaterThanOrEqual(2)
      const homes = opened.runner.starts
        .filter(({ env }) => env.API_KEY)
        .map(({ home: folder, env }) => [env.API_KEY, folder] as const)
      expect(new Set(homes.map(([, folder]) => folder)).size).toBe(new Set(homes.map(([key]) => key)).size)

      const ada = await home.token('ada')
      const path = '/api/personal-data/delete'
      const left = await home.request('POST', path, { token: ada, body: { confirm: true } })
      expect(left.status).toBe(200)
      const folderOf = new Map(homes)
      expect(opened.runner.forgotten).toContain(folderOf.get('key-of-ada'))
      expect(opened.runner.forgotten).not.toContain(folderOf.get('key-of-eve'))
    })

    test('of its approval serves callers without an own one, and is never shown', async () => {
      const { admin, home, list, approve, send } = opened
      await list('com.example/shared', keyed)
      const report = await approve('com.example/shared', { variables: { API_KEY: 'the-shared-key' } })
      expect(report.tools).not.toBeNull()
      expect(JSON.stringify(report)).not.toContain('the-shared-key')
      expect(await send('com.example/shared', 'facts')).toMatchObject({ key: 'the-shared-key' })
      const listed = await home.request('GET', '/api/approvals', { token: admin })
      expect(listed.text).not.toContain('the-shared-key')
      const rows = await home.gateway.store.approvals.list('operator')
      expect(JSON.stringify(rows)).not.toContain('the-shared-key')
    })

    test('takes a value that it offers alone', async () => {
      const { list, approve } = opened
      await list('com.example/choice', keyed)
      expect(await approve('com.example/choice', { variables: { MODE: 'other' } })).toMatchObject({
        code: 'invalid_request',
        errors: [{ pointer: '/variables/MODE' }],
      })
    })
  })
})

describe('a package that misbehaves', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    await opened?.home[Symbol.asyncDispose]()
  })
  const start = async (kind: string) => {
    const name = `com.example/${kind}`
    await opened.list(name, misbehaving(kind))
    return { name, report: await opened.approve(name) }
  }

  test('by never answering initialize times out, and leaves no process', async () => {
    const { home, runner, list, approve, send } = await open({ DRAGOMAN_CALL_FIRST: '1' })
    await using _ = home
    await list('com.example/mute', misbehaving('mute'))
    expect((await approve('com.example/mute')).problem).toContain('did not answer within 1 s')
    expect((await send('com.example/mute', 'echo')).code).toBe('upstream_timeout')
    await expect.poll(() => runner.running()).toBe(0)
  })

  test('by a banner on standard output works', async () => {
    const { name, report } = await start('banner')
    expect(report.problem).toBeNull()
    expect(await opened.send(name, 'echo', { text: 'a' })).toEqual({ text: 'a' })
  })

  test.each(['silent', 'strict', 'modern'])('by its protocol version (%s) works', async (kind) => {
    const { name, report } = await start(kind)
    expect(report.problem).toBeNull()
    expect(await opened.send(name, 'echo', { text: 'a' })).toEqual({ text: 'a' })
  })

  test('by ending with its usage is an error with its first line, without control characters', async () => {
    const { name, report } = await start('usage')
    expect(report.problem).toContain('Usage: package [options]')
    const { code, detail } = await opened.send(name, 'echo')
    expect(code).toBe('upstream_failed')
    expect(detail).toContain('ended with exit code 2')
    expect(detail).toContain('Usage: package [options]')
    for (const hidden of ['\u202e', '\u001b']) expect(detail).not.toContain(hidden)
    expect(detail).not.toContain('started as')
  })

  test('by endless lines that are no messages is ended', async () => {
    const { report } = await start('chatter')
    expect(report.problem).toContain('not MCP messages')
  })

  test('by ending during a call fails that call alone, and starts again', async () => {
    const { name } = await start('well')
    expect(await opened.send(name, 'exit')).toMatchObject({
      code: 'upstream_failed',
      detail: expect.stringContaining('exit code 3'),
    })
    expect(await opened.send(name, 'echo', { text: 'a' })).toEqual({ text: 'a' })
  })

  test('by an answer of megabytes is refused', async () => {
    const { name } = await start('well')
    expect(await opened.send(name, 'large')).toMatchObject({
      code: 'upstream_invalid',
      detail: expect.stringContaining('bytes'),
    })
    expect(await opened.send(name, 'echo', { text: 'a' })).toEqual({ text: 'a' })
  })

  test('by changing its tools while it runs is called with the new ones', async () => {
    const { name } = await start('well')
    expect(await opened.send(name, 'grow')).toMatchObject({ text: 'grown' })
    const { capabilities } = await opened.send(name, 'list_capabilities')
    expect(capabilities.map((capability: { name: string }) => capability.name)).toContain('grown')
  })
})

describe('processes', () => {
  test('are at most so many: the unused one that was used last ends first', async () => {
    const { home, list, approve, send, runner } = await open({ DRAGOMAN_RUN_MAX: '2' })
    await using _ = home
    const names = ['com.example/a', 'com.example/b', 'com.example/c']
    for (const name of names) {
      await list(name, well)
      await approve(name)
    }
    const pids = new Map<string, number>()
    for (const name of names) pids.set(name, (await send(name, 'facts')).pid)
    expect(runner.running()).toBe(2)
    expect((await send('com.example/b', 'facts')).pid).toBe(pids.get('com.example/b'))
    expect((await send('com.example/a', 'facts')).pid).not.toBe(pids.get('com.example/a'))
    expect(runner.running()).toBe(2)
  })

  test('that are all in use refuse one more', async () => {
    const { home, list, approve, send } = await open({ DRAGOMAN_RUN_MAX: '1', DRAGOMAN_CALL_FIRST: '5' })
    await using _ = home
    for (const name of ['com.example/a', 'com.example/b']) {
      await list(name, well)
      await approve(name)
    }
    await send('com.example/a', 'echo')
    const hanging = send('com.example/a', 'hang')
    const refused = await send('com.example/b', 'echo')
    expect(refused).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('DRAGOMAN_RUN_MAX') })
    expect((await hanging).code).toBe('upstream_timeout')
  })
})
