import { describe, expect, test } from 'vitest'
import { behaviours, type LivingAgents, serveLiving } from '../../support/living.ts'
import { minute, openHome } from './home.ts'

describe('liveness', () => {
  test('of 200 agents with known faults is reported without an error', async () => {
    await using stack = new AsyncDisposableStack()
    const servers: LivingAgents[] = []
    for (let number = 0; number < 8; number++) servers.push(stack.use(await serveLiving()))
    const home = stack.use(await openHome(servers))
    const kinds = Object.entries(behaviours)
    const expected: Record<string, unknown> = {}
    const found: Record<string, unknown> = {}
    let listed = 0
    for (const [round, server] of servers.entries()) {
      const names = kinds.map(([kind]) => `${kind} ${round}`)
      for (const [kind, behaviour] of kinds) server.become(`${kind} ${round}`, behaviour)
      for (const [kind, { status, failure }] of kinds) expected[`${kind} ${round}`] = { status, failure }
      listed += (await home.list(server, ...names)).length
    }
    expect(listed).toBe(200)

    for (const pause of [0, 2 * minute, 6 * minute]) {
      home.time.pass(pause)
      await home.cycle()
    }
    for (const name of Object.keys(expected)) {
      const { status, failure } = (await home.entry(name)).liveness
      found[name] = { status, failure }
    }
    expect(found).toEqual(expected)
  }, 60_000)
})
