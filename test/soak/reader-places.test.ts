import { expect, test } from 'vitest'
import { blocked, invalidUrls, reachable } from '../net/hosts.ts'
import { expectAlike } from '../support/everywhere.ts'
import { besideSecret } from '../support/secret.ts'

const redirects = (home: Awaited<ReturnType<typeof besideSecret>>) =>
  [301, 302, 303, 307, 308].flatMap((status) =>
    reachable.slice(0, 12).map((url) => home.through(home.at(url), status)),
  )

/** The transport over stdio is a separate process with the system's name server. A name that it cannot resolve does not lead to the secret. */
const refusals = ['blocked_address', 'upstream_failed']

test('every spelling of a private place, direct and through redirects, is refused at every transport', async () => {
  await using home = await besideSecret()
  for (const url of [...blocked.map(home.at), ...redirects(home)]) {
    const { 'MCP over stdio': apart, ...outcomes } = await home.ask(url)
    expect({ url, outcome: expectAlike(outcomes) }).toEqual({ url, outcome: { code: 'blocked_address' } })
    expect(refusals, url).toContain(apart && 'code' in apart ? apart.code : undefined)
  }
  for (const url of invalidUrls.map(home.at)) {
    const outcome = expectAlike(await home.ask(url))
    expect({ url, outcome }).toEqual({ url, outcome: { code: 'invalid_request' } })
  }
  expect(home.leaks()).toBe(0)
})

test('without the rule every spelling reaches the secret', async () => {
  await using home = await besideSecret({ isGuarded: false })
  for (const url of reachable.map(home.at)) {
    const outcomes = await home.ask(url)
    for (const [context, outcome] of Object.entries(outcomes)) {
      if (context === 'MCP over stdio' && !url.startsWith('http://127.0.0.1:')) continue
      expect({ context, url, result: JSON.stringify(outcome) }).toMatchObject({
        result: expect.stringContaining('the secret'),
      })
    }
  }
  expect(home.leaks()).toBeGreaterThanOrEqual(reachable.length)
})
