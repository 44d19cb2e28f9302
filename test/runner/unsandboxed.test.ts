import { expect, test } from 'vitest'
import { startPackageRegistry } from '../support/package-registry.ts'
import { commandPuppet, puppet } from '../support/puppet.ts'
import { openTestRunner } from '../support/runner.ts'

test('a package starts without a sandbox where that is allowed, and each start says so', async () => {
  await using registry = await startPackageRegistry()
  registry.publish(puppet)
  await using world = await openTestRunner(registry, { unsandboxed: true, sandboxes: [] })
  expect(await world.runner.sandbox()).toMatchObject({ kind: 'none', problem: null })
  for (const count of [1, 2]) {
    await using child = await world.run({ name: 'puppet' }, { args: ['a b'], env: { TOKEN: 'value' } })
    const seen = await commandPuppet(child)((_, process) => [
      process.argv[2],
      process.env.TOKEN,
      process.env.HOME,
    ])
    expect(seen).toEqual({ value: ['a b', 'value', `${world.folder}/homes/home`] })
    const stated = world.events.filter((event) => event.type === 'unsandboxed')
    expect(stated).toHaveLength(count)
    expect(stated[0]?.detail).toContain('it reads and writes all that the user of the gateway may')
  }
})
