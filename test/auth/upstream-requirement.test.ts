import { expect, test } from 'vitest'
import { createFindRequirement } from '../../src/auth/upstream-sign-in/requirement.ts'
import { serve } from '../net/support.ts'

test('two agents at one address share what was read there, and an error names the agent that was called', async () => {
  await using server = await serve((_, response) => response.writeHead(404).end())
  const find = createFindRequirement(fetch, () => 1_800_000_000_000)
  const ask = (package_name: string) =>
    find({
      package_name,
      url: `${server.origin}/mcp`,
      protocol: 'mcp',
      card: {},
      challenge: `Bearer resource_metadata="${server.origin}/metadata"`,
    })
  for (const name of ['com.example.hidden', 'com.example.open']) {
    await expect(ask(name)).rejects.toThrow(`${name} asks for a sign-in that cannot be used: `)
  }
  expect(server.hits()).toBe(1)
})

test('what was read is read again a minute later, also when the clock is set back', async () => {
  await using server = await serve((_, response) => response.writeHead(404).end())
  let now = 1_800_000_000_000
  const find = createFindRequirement(fetch, () => now)
  const challenge = `Bearer resource_metadata="${server.origin}/metadata"`
  const ask = () =>
    find({ package_name: 'com.example.a', url: `${server.origin}/mcp`, protocol: 'mcp', card: {}, challenge })
  await expect(ask()).rejects.toThrow('cannot be used')
  now -= 3_600_000
  await expect(ask()).rejects.toThrow('cannot be used')
  expect(server.hits()).toBe(1)
  now += 60_000
  await expect(ask()).rejects.toThrow('cannot be used')
  expect(server.hits()).toBe(2)
})
