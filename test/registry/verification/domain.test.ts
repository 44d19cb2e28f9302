import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agreement, isProvable, provableDomains } from '../../../src/registry/verification/domain.ts'

describe('a package name can prove', () => {
  test.each([
    ['com.example.weather', ['weather.example.com', 'example.com']],
    ['com.example/weather', ['example.com']],
    ['uk.co.example.a.b', ['b.a.example.co.uk', 'a.example.co.uk', 'example.co.uk']],
    ['io.github.me/server', ['me.github.io']],
    ['dev.workers.mine.agent', ['agent.mine.workers.dev', 'mine.workers.dev']],
    ['com.example.my_agent.x', ['example.com']],
    ['com.xn--bcher-kva', ['xn--bcher-kva.com']],
    ['ck.www', ['www.ck']],
  ])('%s: %j', (name, domains) => expect(provableDomains(name)).toEqual(domains))

  test.each([
    'com.example/../x',
    'io.github/x',
    'io.github',
    'dev.workers',
    'uk.co',
    'com',
    'weather',
    'svc.utility.wiki',
    'npm.scope/name',
    'pypi.requests',
    '1.0.0.127',
    'localhost.x',
    'local.printer.x',
    'onion.abc',
    'arpa.home.router',
    'test.example',
    'com..example',
    'com.-example',
    `com.${'x'.repeat(64)}`,
  ])('nothing, or less than it says: %s', (name) => {
    expect(provableDomains(name)).toEqual(name.startsWith('com.example/') ? ['example.com'] : [])
  })
})

describe('a name and a manifest agree', () => {
  test.each([
    ['com.example.weather', 'https://example.com/card.json', undefined, 'example.com'],
    ['com.example.weather', 'https://weather.example.com/card.json', undefined, 'weather.example.com'],
    ['com.example.weather', 'https://a.weather.example.com/card.json', undefined, 'weather.example.com'],
    ['com.example.weather', 'https://weather.example.com/card.json', 'example.com', 'example.com'],
    ['com.example.weather', 'https://EXAMPLE.com.:8443/card.json', 'Example.COM.', 'example.com'],
    ['com.example/x', 'https://api.example.com/card.json', undefined, 'example.com'],
    ['com.xn--bcher-kva/x', 'https://bücher.com/card.json', undefined, 'xn--bcher-kva.com'],
  ])('%s at %s, asking for %s: %s', (package_name, manifest_url, domain, expected) => {
    expect(agreement({ package_name, manifest_url, domain })).toEqual({ domain: expected, reason: null })
  })

  test.each([
    ['com.example.weather', 'https://example.org/x', undefined, 'neither example.com nor below it'],
    ['com.example.weather', 'https://notexample.com/x', undefined, 'neither example.com nor below it'],
    ['com.example.weather', 'https://example.com.evil.org/x', undefined, 'at example.com.evil.org'],
    ['com.example.weather', 'https://example.com@evil.org/x', undefined, 'at evil.org'],
    [
      'com.example.weather',
      'https://example.com/x',
      'weather.example.com',
      'neither weather.example.com nor',
    ],
    ['com.example.weather', 'https://example.com/x', 'com', 'not com'],
    [
      'com.example.weather',
      'https://example.com/x',
      'evil.org',
      'can prove weather.example.com or example.com',
    ],
    ['com.bücher', 'https://bücher.com/x', undefined, 'no domain that can be proved'],
    ['com.xn--bcher-kva', 'https://bücher.com/x', 'bücher.com', 'xn--'],
    ['io.github', 'https://github.io/x', 'github.io', 'has no single owner'],
    ['com.example', 'https://127.0.0.1/x', undefined, 'at 127.0.0.1'],
    ['com.example', 'https://[::1]/x', undefined, 'at ::1'],
    ['com.example', 'no url', undefined, 'at no host'],
  ])('not: %s at %s, asking for %s', (package_name, manifest_url, domain, reason) => {
    const answer = agreement({ package_name, manifest_url, domain })
    expect(answer.domain).toBeNull()
    expect(answer.reason).toContain(reason)
  })
})

const segment = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}[a-z0-9]$/)
const top = fc.constantFrom('com', 'io.github', 'uk.co', 'dev.workers', 'svc', 'npm', 'local', '127')
const packageName = fc
  .tuple(top, fc.array(segment, { maxLength: 4 }), fc.option(segment))
  .map(([head, rest, tail]) => [head, ...rest].join('.') + (tail === null ? '' : `/${tail}`))

describe('for every package name', () => {
  test('the domains that a name can prove are its reversed prefixes, longest first, each provable', async () => {
    await fc.assert(
      fc.property(packageName, (name) => {
        const domains = provableDomains(name)
        for (const domain of domains) {
          const backwards = domain.split('.').reverse().join('.')
          expect(`${name.split('/')[0]}.`.startsWith(`${backwards}.`)).toBe(true)
          expect(isProvable(domain)).toBe(true)
        }
        const lengths = domains.map(({ length }) => length)
        expect(lengths).toEqual(lengths.toSorted((length, other) => other - length))
      }),
    )
  })

  test('an agreed domain is one of its own, and the manifest stands under it', async () => {
    await fc.assert(
      fc.property(packageName, packageName, fc.boolean(), (name, other, own) => {
        const host = (own ? name : other).split('/')[0]!.split('.').reverse().join('.')
        const { domain } = agreement({ package_name: name, manifest_url: `https://${host}/card.json` })
        if (domain === null) return
        expect(provableDomains(name)).toContain(domain)
        expect(`.${new URL(`https://${host}`).hostname}`.endsWith(`.${domain}`)).toBe(true)
      }),
    )
  })

  test('no random text proves a domain', async () => {
    await fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (package_name, manifest_url, domain) => {
        const answer = agreement({ package_name, manifest_url, domain })
        if (answer.domain !== null) expect(provableDomains(package_name)).toContain(answer.domain)
      }),
    )
  })
})
