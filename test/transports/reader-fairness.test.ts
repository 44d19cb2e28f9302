import { afterAll, describe, expect, test } from 'vitest'
import { blocked, invalidUrls, reachable } from '../net/hosts.ts'
import { expectAlike } from '../support/everywhere.ts'
import { besideSecret } from '../support/secret.ts'

const home = await besideSecret()
afterAll(() => home[Symbol.asyncDispose]())

/** One of each kind; test/soak has every spelling at every transport. */
const callers = [
  'http://127.0.0.1:P/',
  'http://2130706433:P/',
  'http://[::1]:P/',
  'http://[::ffff:127.0.0.1]:P/',
  'http://private.test:P/',
  'http://mixed.test:P/',
  'http://localhost:P/',
  'http://169.254.169.254/latest/meta-data/',
]

describe('the reader reaches no private address at any transport', () => {
  test.each(callers)('%s', async (url) => {
    expect(expectAlike(await home.ask(home.at(url)))).toEqual({ code: 'blocked_address' })
    expect(home.leaks()).toBe(0)
  })

  test.each([301, 308])('through a redirect of status %i', async (status) => {
    const url = home.through(home.at('http://127.0.0.1:P/'), status)
    expect(expectAlike(await home.ask(url))).toEqual({ code: 'blocked_address' })
    expect(home.leaks()).toBe(0)
  })

  test('through a name that changes its mind', async () => {
    for (const context of home.transports) {
      expect(await home.askAt(context, home.rebinding())).toEqual({ code: 'blocked_address' })
    }
    expect(home.leaks()).toBe(0)
  })

  test('in any spelling, at the first transport', async () => {
    const [context] = home.transports
    for (const url of [...blocked, ...invalidUrls]) {
      const outcome = context && (await home.askAt(context, home.at(url)))
      expect({ url, outcome }).toEqual({
        url,
        outcome: { code: invalidUrls.includes(url) ? 'invalid_request' : 'blocked_address' },
      })
    }
    expect(home.leaks()).toBe(0)
  })
})

test('without the rule each transport does reach the secret, so the table can fail', async () => {
  await using careless = await besideSecret({ isGuarded: false })
  for (const context of careless.transports) {
    const isApart = context.name === 'MCP over stdio'
    for (const url of reachable.slice(0, isApart ? 1 : 3)) {
      expect(await careless.askAt(context, careless.at(url))).toMatchObject({
        output: { markdown: 'the secret' },
      })
    }
  }
  expect(careless.leaks()).toBeGreaterThanOrEqual(3)
})
