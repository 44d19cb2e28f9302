import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isUnder } from '../../schemas/names.ts'
import type { Principal } from '../../schemas/scope.ts'
import { namespacesOver } from '../../src/registry/entry/name-rules.ts'
import { admin, codeOf, openRegistry, person, publication, signal } from '../support/registry.ts'

const registry = await openRegistry()
afterAll(() => registry[Symbol.asyncDispose]())

const owner = person('owner')
const outsider = person('stranger', ['com.elsewhere'])
const claimant = person('claimant', ['com.permit'])
/** Same subject, another issuer: another caller. */
const namesake: Principal = { ...owner, issuer: 'urn:else' }

const operations = {
  get: (agent: string, caller: Principal | null) => registry.get(agent, caller),
  update: (agent: string, caller: Principal | null) => registry.update({ agent }, { name: 'Mine' }, caller),
  goLive: (agent: string, caller: Principal | null) => registry.goLive({ agent }, caller),
  unpublish: (agent: string, caller: Principal | null) => registry.unpublish({ agent }, caller),
  remove: (agent: string, caller: Principal | null) => registry.remove({ agent }, caller),
}
const changes = ['update', 'goLive', 'unpublish', 'remove'] as const

describe('an agent in STAGE', () => {
  const name = 'com.permit.staged'
  beforeAll(() => registry.publish(publication(name), owner, signal))

  test.each([
    ['a stranger', outsider],
    ['a namesake at another issuer', namesake],
  ])('is not there for %s, whatever they try', async (_, caller) => {
    for (const [operation, run] of Object.entries(operations)) {
      expect(`${operation} ${await codeOf(run(name, caller))}`).toBe(`${operation} not_found`)
    }
  })

  test('is not found without a token, and a change without a token asks for one first', async () => {
    expect(await codeOf(registry.get(name, null))).toBe('not_found')
    for (const operation of changes) {
      const code = await codeOf(operations[operation](name, null))
      expect(code).toBe(await codeOf(operations[operation]('com.permit.nobody', null)))
      expect(code).toBe('unauthenticated')
    }
  })

  test('answers a stranger word for word as what never was', async () => {
    const words = async (agent: string, operation: keyof typeof operations) => {
      const failure = await operations[operation](agent, outsider).catch((thrown: unknown) => thrown)
      const { code, message, details } = failure as { code: string; message: string; details: object }
      return JSON.stringify({ code, message, details }).replaceAll(agent, 'NAME')
    }
    for (const operation of Object.keys(operations) as (keyof typeof operations)[]) {
      expect(await words(name, operation)).toBe(await words('com.permit.stagee', operation))
    }
  })

  test.each([
    ['its owner', owner],
    ['who claims its namespace', claimant],
    ['an admin', admin],
  ])('may be read and changed by %s', async (_, caller) => {
    expect((await registry.get(name, caller)).state).toBe('STAGE')
    expect((await registry.update({ agent: name }, { name: 'Mine' }, caller)).name).toBe('Mine')
    expect((await registry.goLive({ agent: name }, caller)).state).toBe('ACTIVE')
    const back = await registry.unpublish({ agent: name }, caller)
    expect(back.owner).toMatchObject({ subject: 'owner' })
  })
})

describe('an ACTIVE agent', () => {
  const name = 'com.permit.active'
  beforeAll(() => registry.list(publication(name), owner))

  test('is readable for all; only its owner may change it, and others get forbidden', async () => {
    for (const caller of [null, outsider, namesake, claimant, owner, admin]) {
      expect((await registry.get(name, caller)).package_name).toBe(name)
    }
    for (const caller of [outsider, namesake]) {
      for (const operation of changes)
        expect(await codeOf(operations[operation](name, caller))).toBe('forbidden')
    }
    expect((await registry.get(name, null)).state).toBe('ACTIVE')
  })

  test('shows its owner only to the owner, and the namespace to all', async () => {
    const claimed = 'com.permit.owned'
    await registry.list(publication(claimed), claimant)
    for (const caller of [null, outsider, namesake]) {
      expect((await registry.get(claimed, caller)).owner).toEqual({ namespace: 'com.permit' })
      const found = await registry.search(
        { query: 'permit owned', limit: 10, sort: 'relevance', facets: false },
        caller,
        signal,
      )
      expect(JSON.stringify(found)).not.toContain('urn:test')
      expect(JSON.stringify(found)).not.toContain('claimant')
    }
    const whole = { issuer: 'urn:test', subject: 'claimant', namespace: 'com.permit' }
    for (const caller of [claimant, admin]) expect((await registry.get(claimed, caller)).owner).toEqual(whole)
  })
})

describe('a claimed namespace', () => {
  beforeAll(() =>
    registry.publish(publication('net.corp.claimed.first'), person('holder', ['net.corp.claimed']), signal),
  )
  const attempt = (name: string, ...namespaces: string[]) =>
    codeOf(registry.publish(publication(name), person('somebody', namespaces), signal))

  test('is closed to callers who do not claim it, on every path', async () => {
    expect(await attempt('net.corp.claimed.x')).toBe('forbidden')
    expect(await attempt('net.corp.claimed')).toBe('forbidden')
    expect(await attempt('net.corp.claimed/x')).toBe('forbidden')
    expect(await attempt('net.corp.claimed.deep.down/x', 'org.other')).toBe('forbidden')
    expect(await attempt('net.corp.claimed.deep.x', 'net.corp.claimed.deep')).toBe('forbidden')
    expect(await attempt('net.corp.claimed.y', '')).toBe('forbidden')
    expect(await attempt('net.corp.claimed.y', 'net.corp.claime')).toBe('forbidden')
  })

  test('is open to callers who claim it or a namespace above it, and to admins', async () => {
    expect(await attempt('net.corp.claimed.second', 'net.corp.claimed')).toBe('ok')
    expect(await attempt('net.corp.claimed.third', 'net.x', 'net.corp')).toBe('ok')
    expect(await codeOf(registry.publish(publication('net.corp.claimed.fourth'), admin, signal))).toBe('ok')
  })

  test('claims no neighbour that only begins alike', async () => {
    await registry.publish(publication('io.alone.first'), person('hermit', ['io.alone']), signal)
    expect(await attempt('io.alone-not.x')).toBe('ok')
    expect(await attempt('io.alonex')).toBe('ok')
    expect(await attempt('io.free')).toBe('ok')
    expect(await attempt('io.alone.x')).toBe('forbidden')
  })
})

test('a namespace covers names under it, separated by a dot or a slash', () => {
  expect(isUnder('com.example.weather', 'com.example')).toBe(true)
  expect(isUnder('com.example/weather', 'com.example')).toBe(true)
  expect(isUnder('com.example', 'com.example')).toBe(true)
  expect(isUnder('com.examples', 'com.example')).toBe(false)
  expect(isUnder('com', 'com.example')).toBe(false)
  expect(isUnder('com.example', '')).toBe(false)
  expect(namespacesOver('a.b/c')).toEqual(['a', 'a.b', 'a.b/c'])
})
