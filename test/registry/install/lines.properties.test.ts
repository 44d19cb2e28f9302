import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostInstall } from '../../../schemas/install.ts'
import { install, packaged, refusalOf, remote, wordsOf } from '../../support/installed.ts'

const marks = [
  ...'\'"`$(){}[]<>|&;*?!~#\\^%=@:,. \t\n-aZ0',
  '$HOME',
  '$' + '{IFS}',
  '--',
  '\u00e9',
  '\u{1f600}',
]
const text = fc
  .array(fc.constantFrom(...marks), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))

/** Every word that a host's command line passes on, beside its own. */
function words(hosts: readonly HostInstall[]): Map<string, string[]> {
  const lines = hosts.filter((row) => row.command !== null)
  const split = wordsOf(lines.map(({ command }) => command ?? ''))
  return new Map(lines.map(({ host }, index) => [host, split[index] ?? []]))
}

function sample<T>(arbitrary: fc.Arbitrary<T>, numRuns: number): T[] {
  return fc.sample(arbitrary, { numRuns, seed: 20 })
}

test('whatever a document states, a shell passes on each text as it is, or there is no line', () => {
  let lines = 0
  for (const [name, value, argument] of sample(fc.tuple(text, text, text), 150)) {
    const entry = packaged({
      environment_variables: [{ name: 'A', value: name }],
      package_arguments: [
        { type: 'positional', value },
        { type: 'named', name: `--${argument}`, value: argument },
      ],
    })
    if (refusalOf(entry)) continue
    const [target] = install(entry).targets
    const found = words(target?.hosts ?? [])
    const json = JSON.parse(found.get('vscode')?.[2] ?? '')
    if (target?.needs.length === 0) {
      lines += 1
      const args = ['-y', '@example/weather@1.2.3', value, `--${argument}`, argument]
      expect(found.get('claude-code')?.slice(-8)).toEqual([`A=${name}`, '--', 'npx', ...args])
      expect(found.get('gemini-cli')?.slice(-7)).toEqual([`A=${name}`, '--', ...args])
      expect(found.get('codex')?.slice(-8)).toEqual([`A=${name}`, '--', 'npx', ...args])
      expect(json).toMatchObject({ args, env: { A: name } })
    }
  }
  expect(lines).toBeGreaterThan(20)
})

test('whatever an address and its headers state, a shell passes them on as they are', () => {
  let lines = 0
  for (const [path, value] of sample(fc.tuple(text, text), 300)) {
    const entry = remote({ url: `https://weather.example.com/${path}`, headers: [{ name: 'X-A', value }] })
    if (refusalOf(entry)) continue
    const target = install(entry).targets.find(({ kind }) => kind === 'remote')
    if (target?.needs.length !== 0) continue
    lines += 1
    const found = words(target.hosts).get('claude-code')
    expect(found?.slice(-3)).toEqual([`https://weather.example.com/${path}`, '--header', `X-A: ${value}`])
  }
  expect(lines).toBeGreaterThan(20)
})

test('no identifier or version of any text becomes a second word', () => {
  let lines = 0
  for (const [identifier, version, type] of sample(
    fc.tuple(
      fc.oneof(text, fc.stringMatching(/^[a-z0-9]{1,4}[a-z0-9@/._-]{0,6}$/)),
      fc.oneof(text, fc.stringMatching(/^[0-9a-z][0-9a-z.+-]{0,6}$/)),
      fc.constantFrom('npm', 'pypi', 'oci', 'nuget'),
    ),
    400,
  )) {
    const entry = packaged({ registry_type: type, identifier, version })
    if (refusalOf(entry)) continue
    lines += 1
    const command = install(entry).targets[0]?.hosts.find(({ host }) => host === 'claude-code')?.command ?? ''
    const [found = []] = wordsOf([command])
    const own = found.slice(found.indexOf('--') + 1)
    const reference = own.find((word) => word.includes(identifier))
    expect(reference).toMatch(/^[A-Za-z0-9@~_]/)
    expect(own.length).toBe({ npm: 3, pypi: 2, oci: 5, nuget: 4 }[type])
  }
  expect(lines).toBeGreaterThan(20)
})
