import { describe, expect, test } from 'vitest'
import { iconOf, readmeOf } from '../../../src/registry/publisher/addresses.ts'

const nothing = { source_url: null, card: null, server: null }
const raw = 'https://raw.githubusercontent.com'

describe('the README of an agent', () => {
  test.each([
    ['https://github.com/a/b', `${raw}/a/b/HEAD/README.md`],
    ['https://github.com/a/b.git', `${raw}/a/b/HEAD/README.md`],
    ['https://github.com/a/b/tree/HEAD/servers/x', `${raw}/a/b/HEAD/servers/x/README.md`],
    ['https://github.com/a/b/blob/main/docs/Use.md', `${raw}/a/b/main/docs/Use.md`],
    ['https://gitlab.com/a/b/c', 'https://gitlab.com/a/b/c/-/raw/HEAD/README.md'],
    ['https://gitlab.com/a/b/-/tree/dev/x', 'https://gitlab.com/a/b/-/raw/dev/x/README.md'],
    ['https://example.com/docs/agent.md', 'https://example.com/docs/agent.md'],
  ])('of %s is at %s', (source_url, url) => {
    expect(readmeOf({ ...nothing, source_url })?.url).toBe(url)
  })

  test.each([
    'https://github.com/a',
    'https://github.com/a/b/issues/1',
    'https://example.com/',
    'javascript:alert(1)//x.md',
    'file:///etc/passwd.md',
    `https://example.com/${'a'.repeat(3000)}.md`,
  ])('is unknown for %s', (source_url) => {
    expect(readmeOf({ ...nothing, source_url })).toBeNull()
  })

  test('has links that are relative to its repository, not to its raw file', () => {
    const { base_url = '' } = readmeOf({ ...nothing, source_url: 'https://github.com/a/b' }) ?? {}
    expect(new URL('docs/x.md', base_url).href).toBe('https://github.com/a/b/blob/HEAD/docs/x.md')
  })

  test('is what the card names where there is no repository', () => {
    const card = { documentationUrl: 'https://example.com/agent.md' }
    expect(readmeOf({ ...nothing, source_url: 'https://example.com/', card })?.url).toBe(
      card.documentationUrl,
    )
  })
})

describe('the icon of an agent', () => {
  test('is the first one of pixels, for a light page', () => {
    const icons = [
      { src: 'https://example.com/a.svg' },
      { src: 'https://example.com/vector', mimeType: 'image/svg+xml' },
      { src: 'https://example.com/dark.png', theme: 'dark' },
      { src: 'https://example.com/light.png' },
    ]
    expect(iconOf({ ...nothing, server: { icons } })).toBe('https://example.com/light.png')
  })

  test.each([
    { icons: 'none' },
    { icons: [null, 3, { src: 7 }, { src: 'data:image/png;base64,AAAA' }] },
    { icons: [{ src: 'javascript:alert(1)' }, { src: 'https://example.com/a.SVG?x' }] },
  ])('is unknown for %j', (server) => {
    expect(iconOf({ ...nothing, server, card: { iconUrl: 'ftp://example.com/a.png' } })).toBeNull()
  })

  test('is that of the A2A card', () => {
    const card = { iconUrl: 'https://example.com/logo.webp' }
    expect(iconOf({ ...nothing, card })).toBe('https://example.com/logo.webp')
  })
})
