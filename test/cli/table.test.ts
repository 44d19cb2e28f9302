import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { agentColumns } from '../../src/cli/list.ts'
import { cut, table } from '../../src/cli/table.ts'

const rows = [
  ['svc.utility.wiki', 'ACTIVE', 'unverified', 'hosted', 'alive', 'Searches encyclopedia pages.'],
  [
    'jp.example/tenki',
    'ACTIVE',
    'domain_verified',
    'open',
    'alive',
    '東京の天気予報と降水確率を毎時お知らせします。全国対応。',
  ],
  [
    `io.github.${'long-name-'.repeat(12)}`,
    'STAGE',
    'unclaimed',
    'needs_sign_in',
    'unknown',
    'word '.repeat(80),
  ],
  ['com.example.emoji', 'ACTIVE', 'unverified', 'stated', 'dead', '👩‍💻 writes\n\tcode 🇫🇮 ❤️'],
]

describe('a table of agents', () => {
  test.each([20, 40, 60, 80, 120, 200])('on a terminal of %i columns has no line that is wider', (width) => {
    const lines = table(
      agentColumns.map(({ style: _, ...column }) => column),
      rows,
      width,
    )
    expect(lines).toHaveLength(rows.length + 1)
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
    expect(lines[0]).toMatch(/^NAME/)
  })

  test('has its columns below each other, whatever the widths of the letters', () => {
    const wide = table(
      [{ title: 'NAME' }, { title: 'STATE' }],
      [
        ['天気', 'ACTIVE'],
        ['wiki', 'STAGE'],
      ],
      80,
    )
    expect(wide).toEqual(['NAME  STATE', '天気  ACTIVE', 'wiki  STAGE'])
  })

  test.each([
    [200, ['NAME', 'STATE', 'LEVEL', 'CALLABLE', 'LIVENESS', 'DESCRIPTION']],
    [80, ['NAME', 'STATE', 'LEVEL', 'CALLABLE', 'LIVENESS', 'DESCRIPTION']],
    [60, ['NAME', 'STATE', 'LEVEL', 'CALLABLE', 'LIVENESS']],
    [40, ['NAME', 'CALLABLE', 'LIVENESS']],
    [20, ['NAME']],
  ])('of %i columns drops the least important ones first', (width, titles) => {
    const short = [['com.example/weather', 'ACTIVE', 'unverified', 'open', 'alive', 'Forecasts.']]
    expect(table(agentColumns, short, width)[0]?.split(/ {2,}/)).toEqual(titles)
  })

  test('in a pipe has whole cells, separated by tabs', () => {
    const lines = table(agentColumns, rows, undefined)
    expect(lines).toHaveLength(rows.length)
    expect(lines.map((line) => line.split('\t').length)).toEqual([6, 6, 6, 6])
    expect(lines[2]).toContain('word '.repeat(79))
  })
})

test.each([
  ['short', 10, 'short'],
  ['one two three', 9, 'one two…'],
  ['one two three', 8, 'one two…'],
  ['incomprehensibility', 8, 'incompr…'],
  ['天気予報', 5, '天気…'],
  ['👩‍💻👩‍💻👩‍💻', 5, '👩‍💻👩‍💻…'],
])('%s in %i columns is %s', (text, width, shown) => {
  expect(cut(text, width)).toBe(shown)
})
