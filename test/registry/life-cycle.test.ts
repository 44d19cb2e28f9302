import { afterAll, describe, expect, test } from 'vitest'
import type { Principal } from '../../schemas/scope.ts'
import { admin, codeOf, openRegistry, person, publication, signal } from '../support/registry.ts'

const registry = await openRegistry()
afterAll(() => registry[Symbol.asyncDispose]())

const ada = person('ada')
const eve = person('eve')
let made = 0
/** A name that no other test uses. */
const fresh = (prefix = 'com.life') => `${prefix}.agent-${++made}`
const stage = async (name = fresh(), owner: Principal = ada) =>
  registry.publish(publication(name), owner, signal)

describe('a new agent', () => {
  test('is in STAGE, unverified, and its owner sees all of it', async () => {
    const name = fresh()
    const entry = await registry.publish(
      publication(name, {
        tags: ['mail', 'b'],
        category: 'tools',
        target: 'developer',
        version: '1.0',
        endpoints: [{ protocol: 'mcp', url: 'https://example.com/mcp' }],
        packages: [{ registry_type: 'npm', identifier: '@a/b' }],
      }),
      ada,
      signal,
    )
    expect(entry).toMatchObject({
      package_name: name,
      state: 'STAGE',
      verification_level: 'unverified',
      owner: { issuer: 'urn:test', subject: 'ada', namespace: null },
      tags: ['mail', 'b'],
      category: 'tools',
      target: 'developer',
      version: '1.0',
      packages: [{ registry_type: 'npm', identifier: '@a/b' }],
      source_url: null,
    })
    expect(entry.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(entry.created_at).toBe(entry.updated_at)
    expect(entry.card).toMatchObject({
      agent_id: `custom.${name}`,
      capabilities: [{ name: 'do_it', description: 'Does it.' }],
      skills: [{ id: 'do_it' }],
      url: 'https://example.com/mcp',
      rendered_by: 'custom.svc.registry',
    })
    expect(entry.manifest_url).toBe(`https://registry.test/agents/${name}/.well-known/agent-card.json`)
  })

  test('says all that it lacks at once', async () => {
    await expect(registry.publish({}, ada, signal)).rejects.toMatchObject({
      code: 'invalid_request',
      details: {
        errors: ['/package_name', '/name', '/description', '/capabilities'].map((pointer) => ({ pointer })),
      },
    })
    const { capabilities: _, ...bare } = publication(fresh())
    expect(await codeOf(registry.publish(bare, ada, signal))).toBe('invalid_request')
    expect(await codeOf(registry.publish({ ...bare, capabilities: [] }, ada, signal))).toBe('invalid_request')
    const endpoints = [{ protocol: 'a2a' as const, url: 'https://example.com' }]
    expect(await codeOf(registry.publish({ ...bare, endpoints }, ada, signal))).toBe('ok')
  })

  test('may have a package alone, which its validation allows too', async () => {
    const { capabilities: _, ...bare } = publication(fresh())
    const packages = [{ registry_type: 'npm' as const, identifier: '@a/b' }]
    const checked = await registry.validate({ publication: { ...bare, packages } }, ada, signal)
    expect(checked).toMatchObject({ valid: true, findings: [] })
    const { state } = await registry.publish({ ...bare, packages }, ada, signal)
    expect(state).toBe('STAGE')
    const empty = await registry.validate({ publication: bare }, ada, signal)
    expect(empty.findings).toMatchObject([
      { field: '/capabilities', suggestion: expect.stringContaining('packages') },
    ])
  })

  test('needs an owner', async () => {
    expect(await codeOf(registry.publish(publication(fresh()), null, signal))).toBe('unauthenticated')
  })
})

describe('going live and back', () => {
  test('moves between the two states, one revision each, under one id', async () => {
    const staged = await stage()
    const live = await registry.goLive({ agent: staged.package_name }, ada)
    expect(live).toMatchObject({ id: staged.id, state: 'ACTIVE', revision: staged.revision + 1 })
    expect(live.created_at).toBe(staged.created_at)
    const back = await registry.unpublish({ agent: staged.id }, ada)
    expect(back).toMatchObject({ state: 'STAGE', revision: staged.revision + 2 })
  })

  test('from the wrong state is wrong_state, names the state, and leaves the entry unchanged', async () => {
    const { id } = await stage()
    await expect(registry.unpublish({ agent: id }, ada)).rejects.toMatchObject({
      code: 'wrong_state',
      message: expect.stringContaining('STAGE'),
    })
    await registry.goLive({ agent: id }, ada)
    const before = await registry.store.read.revision()
    await expect(registry.goLive({ agent: id }, ada)).rejects.toMatchObject({
      code: 'wrong_state',
      message: expect.stringContaining('ACTIVE'),
    })
    expect(await registry.store.read.revision()).toBe(before)
  })

  test('of two who go live at once one wins', async () => {
    const { id } = await stage()
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(registry.goLive({ agent: id }, ada))))
    expect(codes.toSorted()).toEqual(['ok', 'wrong_state', 'wrong_state'])
  })
})

describe('an update', () => {
  test('changes the stated fields only, and is found by its new words at once', async () => {
    const staged = await stage()
    await registry.goLive({ agent: staged.id }, ada)
    const changed = await registry.update(
      { agent: staged.package_name },
      { description: 'Brews zanzibar tea.', tags: ['tea'], category: null },
      ada,
    )
    expect(changed).toMatchObject({ name: 'An agent', tags: ['tea'], state: 'ACTIVE', id: staged.id })
    expect(changed.capabilities).toEqual(staged.capabilities)
    expect(changed.revision).toBe(staged.revision + 2)
    expect((await registry.find({ query: 'zanzibar tea' })).names).toEqual([staged.package_name])
    await registry.update({ agent: staged.id }, { description: 'Brews coffee.' }, ada)
    expect((await registry.find({ query: 'zanzibar' })).names).toEqual([])
  })

  test('which states what is stated already changes nothing: no revision, no time, no event', async () => {
    const { id, package_name } = await stage()
    const stated = { ...publication(package_name), description: 'Brews tea.', tags: ['tea'], version: '1' }
    const changed = await registry.update({ agent: id }, stated, ada)
    const repeated = await registry.update({ agent: id, expected_revision: changed.revision }, stated, ada)
    expect(repeated).toEqual(changed)
    const { events } = await registry.audit({ agent: id, limit: 9 }, ada)
    expect(events.map(({ action }) => action)).toEqual(['update', 'publish'])
    expect(await codeOf(registry.update({ agent: id }, stated, eve))).not.toBe('ok')
    const [, other] = await Promise.all([
      registry.update({ agent: id }, stated, ada),
      registry.update({ agent: id }, { name: 'Other' }, ada),
    ])
    expect(other).toMatchObject({ name: 'Other', revision: changed.revision + 1 })
  })

  test('cannot change the name, and may repeat it', async () => {
    const { package_name } = await stage()
    expect(await codeOf(registry.update({ agent: package_name }, { package_name: fresh() }, ada))).toBe(
      'conflict',
    )
    expect(await codeOf(registry.update({ agent: package_name }, { package_name, name: 'B' }, ada))).toBe(
      'ok',
    )
  })

  test('that expects another revision is precondition_failed and leaves the entry unchanged', async () => {
    const { id, revision } = await stage()
    const update = (expected_revision: number, name: string) =>
      codeOf(registry.update({ agent: id, expected_revision }, { name }, ada))
    expect(await update(revision, 'First')).toBe('ok')
    expect(await update(revision, 'Second')).toBe('precondition_failed')
    expect((await registry.get(id, ada)).name).toBe('First')
    for (const move of [registry.goLive, registry.unpublish, registry.remove]) {
      expect(await codeOf(move({ agent: id, expected_revision: revision }, ada))).toBe('precondition_failed')
    }
    expect(await codeOf(registry.goLive({ agent: id, expected_revision: revision + 1 }, ada))).toBe('ok')
  })

  test('to another manifest leaves no card of the old one', async () => {
    const name = fresh()
    const card = { name: 'Old', description: 'Old one.', own: true }
    await using other = await openRegistry({
      fetchCard: async (url) => ({ document: card, sha256: 'abc', url }),
    })
    const published = await other.publish(
      { package_name: name, manifest_url: 'https://old.example/card' },
      ada,
      signal,
    )
    expect(published.card).toEqual(card)
    expect((await other.update({ agent: name }, { tags: ['x'] }, ada)).card).toHaveProperty('own')
    const moved = await other.update({ agent: name }, { manifest_url: 'https://new.example/card' }, ada)
    expect(moved.manifest_url).toBe('https://new.example/card')
    expect(moved.card).toMatchObject({ rendered_by: 'custom.svc.registry' })
  })
})

describe('a deleted agent', () => {
  test('is gone from every view at once, for its owner too, and stays in the log', async () => {
    const { id, package_name } = await stage()
    await registry.goLive({ agent: id }, ada)
    await registry.remove({ agent: package_name }, ada)
    for (const caller of [null, ada, admin]) {
      expect(await codeOf(registry.get(id, caller))).toBe('not_found')
      expect(await codeOf(registry.get(package_name, caller))).toBe('not_found')
    }
    expect((await registry.find({ query: package_name })).names).not.toContain(package_name)
    expect((await registry.find({ filters: { mine: true } }, ada)).names).not.toContain(package_name)
    for (const move of [registry.goLive, registry.unpublish, registry.remove]) {
      expect(await codeOf(move({ agent: id }, ada))).toBe('not_found')
    }
    const log = await registry.store.changes(0, 1000)
    expect(log.filter((change) => change.entry_id === id).map((change) => change.kind)).toEqual([
      'put',
      'put',
      'delete',
    ])
  })

  test('keeps its name for its owner, who may publish it again, under the same id and from STAGE', async () => {
    const { id, package_name } = await stage()
    await registry.goLive({ agent: id }, ada)
    await registry.remove({ agent: id }, ada)
    for (const caller of [eve, admin, { ...ada, issuer: 'urn:else' }]) {
      expect(await codeOf(registry.publish(publication(package_name), caller, signal))).toBe('conflict')
    }
    const again = await registry.publish(publication(package_name, { name: 'Again' }), ada, signal)
    expect(again).toMatchObject({ id, package_name, name: 'Again', state: 'STAGE' })
  })
})

describe('names', () => {
  test('that are taken are a conflict, in STAGE too, and for their owner too', async () => {
    const { package_name } = await stage()
    for (const caller of [ada, eve, admin]) {
      expect(await codeOf(registry.publish(publication(package_name), caller, signal))).toBe('conflict')
    }
  })

  test('of two who want the same at once one gets it', async () => {
    const name = fresh()
    const codes = await Promise.all(
      [ada, eve].map((caller) => codeOf(registry.publish(publication(name), caller, signal))),
    )
    expect(codes.toSorted()).toEqual(['conflict', 'ok'])
  })

  test.each([
    ['svc.mine', 'forbidden', 'ok'],
    ['custom.mine', 'invalid_request', 'invalid_request'],
    ['01900000-0000-7000-8000-000000000001', 'invalid_request', 'invalid_request'],
    ['svcs.mine', 'ok', 'conflict'],
  ])('%s is %s to ordinary callers, %s to an admin', async (name, anybody, operator) => {
    expect(await codeOf(registry.publish(publication(name), ada, signal))).toBe(anybody)
    expect(await codeOf(registry.publish(publication(name), admin, signal))).toBe(operator)
  })

  test('are found as id, name and A2A address, in any case', async () => {
    const { id, package_name } = await stage()
    for (const change of [
      id,
      id.toUpperCase(),
      package_name,
      package_name.toUpperCase(),
      `custom.${package_name}`,
    ]) {
      expect((await registry.get(change, ada)).id).toBe(id)
    }
  })
})

describe('the tag test', () => {
  test('is set only by admins, and kept if it is already set', async () => {
    const name = fresh()
    expect(await codeOf(registry.publish(publication(name, { tags: ['test'] }), ada, signal))).toBe(
      'reserved_tag',
    )
    await registry.publish(publication(name), ada, signal)
    expect(await codeOf(registry.update({ agent: name }, { tags: ['a', 'test'] }, ada))).toBe('reserved_tag')
    expect((await registry.update({ agent: name }, { tags: ['test'] }, admin)).tags).toEqual(['test'])
    expect((await registry.update({ agent: name }, { tags: ['test', 'b'] }, ada)).tags).toEqual(['test', 'b'])
    expect((await registry.update({ agent: name }, { tags: ['b'] }, ada)).tags).toEqual(['b'])
    expect(await codeOf(registry.update({ agent: name }, { tags: ['test'] }, ada))).toBe('reserved_tag')
  })
})
