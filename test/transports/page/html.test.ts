import { describe, expect, test } from 'vitest'
import { html } from '../../../src/transports/page/html.ts'

describe('a text within HTML', () => {
  test.each([
    ['&', '&amp;'],
    ['<', '&lt;'],
    ['>', '&gt;'],
    ['"', '&quot;'],
    ["'", '&#39;'],
    ['&lt;', '&amp;lt;'],
    ['plain', 'plain'],
    ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'].map(
      (control): [string, string] => [`a${control}b`, 'ab'],
    ),
  ])('is escaped wherever it stands: %j', (text, escaped) => {
    expect(html`<p title="${text}">${text}</p>`.html).toBe(`<p title="${escaped}">${escaped}</p>`)
    expect(html`${[text, html`<b>${text}</b>`]}`.html).toBe(`${escaped}<b>${escaped}</b>`)
    expect(html`${`${text}${text}`}`.html).toBe(`${escaped}${escaped}`)
  })

  test('is escaped once, and HTML is not', () => {
    const inner = html`<b>${'&'}</b>`
    expect(html`${inner}${[inner, inner]}`.html).toBe('<b>&amp;</b>'.repeat(3))
  })

  test('is left out where there is none, but for the number nought', () => {
    expect(html`${undefined}${null}${false}${''}${0}${[]}`.html).toBe('0')
  })
})
