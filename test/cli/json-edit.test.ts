import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonFile } from '../../src/cli/install/json-edit.ts'
import { lineDiff } from '../../src/cli/install/line-diff.ts'
import { TomlFile } from '../../src/cli/install/toml-edit.ts'
import { YamlFile } from '../../src/cli/install/yaml-edit.ts'

const key = fc.constantFrom('servers', 'inputs', 'a', 'b"c', '__proto__', 'ü', '')
const value = fc.jsonValue({ maxDepth: 2 })
const members = fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value, { noNullPrototype: true })), {
  noNullPrototype: true,
})
const form = fc.record({
  indent: fc.constantFrom(0, 1, 2, 4, '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
  comment: fc.constantFrom('', ' // "a": [', ' /* } , */', '\n// x\n'),
  trailing: fc.constantFrom('', ','),
  mark: fc.constantFrom('', '\uFEFF'),
})

/** The text of an object, with comments after its commas and a comma at its end. */
function textOf(
  object: object,
  { indent, eol, comment, trailing, mark }: typeof form extends fc.Arbitrary<infer F> ? F : never,
) {
  const plain = JSON.stringify(object, null, indent)
  const isEmpty = Object.keys(object).length === 0
  if (indent === 0) return mark + plain
  const lines = plain.split('\n').map((line) => (line.endsWith(',') ? line + comment : line))
  const last = lines.length - 2
  if (!isEmpty && last > 0) lines[last] = `${lines[last]}${trailing}${comment}`
  return mark + lines.join('\n').replaceAll('\n', eol)
}

const isObject = (item: unknown): item is Record<string, unknown> =>
  typeof item === 'object' && item !== null && !Array.isArray(item)
const isStrict = ({ comment, trailing }: { comment: string; trailing: string }) => comment + trailing === ''
const roundTrip = (item: unknown) => JSON.parse(JSON.stringify(item))

test('a member that is set is there, and all else is as it was', async () => {
  await fc.assert(
    fc.property(members, form, key, value, (object, look, name, member) => {
      fc.pre(!('servers' in object) || isObject(object.servers))
      const json = new JsonFile(textOf(object, look), 'x.json')
      expect(json.get([])).toEqual(roundTrip(object))
      json.set(['servers', name], member)
      const servers = isObject(object.servers) ? object.servers : {}
      const expected = {
        ...object,
        servers: Object.fromEntries([...Object.entries(servers), [name, member]]),
      }
      expect(json.get([])).toEqual(roundTrip(expected))
      const once = json.text
      if (isStrict(look)) expect(() => JSON.parse(once.replace('\uFEFF', ''))).not.toThrow()
      json.set(['servers', name], member)
      expect(json.text).toBe(once)
    }),
    { numRuns: 400, seed: 20 },
  )
})

test('a member that is removed is gone, and all else is as it was', async () => {
  await fc.assert(
    fc.property(members, form, key, (object, look, name) => {
      const before = textOf(object, look)
      const json = new JsonFile(before, 'x.json')
      json.remove([name])
      const rest = Object.fromEntries(Object.entries(object).filter(([other]) => other !== name))
      expect(json.get([])).toEqual(roundTrip(rest))
      if (isStrict(look)) expect(() => JSON.parse(json.text.replace('\uFEFF', ''))).not.toThrow()
      if (!Object.hasOwn(object, name)) expect(json.text).toBe(before)
    }),
    { numRuns: 400, seed: 20 },
  )
})

test('items are set and removed by their ids', () => {
  const json = new JsonFile('{ "inputs": [{"id": "a"}, {"id": "b"}] // c\n}', 'x.json')
  json.setItem(['inputs'], { id: 'b' })
  json.setItem(['inputs'], { id: 'c' })
  expect(json.text).toBe('{ "inputs": [{"id": "a"}, {"id": "b"}, {"id":"c"}] // c\n}')
  json.removeItems(['inputs'], (id) => id !== 'b')
  expect(json.text).toBe('{ "inputs": [ {"id": "b"}] // c\n}')
})

test('of several members with one name the last one counts, as for hosts', () => {
  const json = new JsonFile('{"a": {"b": 1}, "a": {"b": 2}}', 'x.json')
  json.set(['a', 'b'], 3)
  expect([JSON.parse(json.text), json.text]).toEqual([{ a: { b: 3 } }, '{"a": {"b": 1}, "a": {"b": 3}}'])
})

test('TOML: a comment before the table that follows stays with it', () => {
  const toml = '[mcp_servers.a]\nb = 1\n\n# next\n[next]\n'
  expect(new TomlFile(toml, 'x').with(['mcp_servers', 'a'], '[mcp_servers.a]\nb = 2\n')).toBe(
    toml.replace('1', '2'),
  )
})

test('a text of any length and depth ends, or is refused', () => {
  for (const text of [
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    '"'.repeat(100_001),
    '/*'.repeat(100_000),
  ]) {
    expect(() => new JsonFile(text, 'x.json').set(['a'], 1)).toThrow(/is not JSON/)
  }
})

test('a text of many megabytes is read', () => {
  for (const text of [`{"a": "${'x'.repeat(1e7)}"}`, `{${'\n'.repeat(1e7)}"a": 1}`]) {
    const file = new JsonFile(text, 'f.json')
    file.set(['mcpServers'], {})
    expect(file.text.length).toBeGreaterThan(text.length)
  }
})

test.each([
  ['extensions: {}\nz: 1\n', 'extensions:\n  a:\n    b: 1\nz: 1\n'],
  ['extensions:\nz: 1\n', 'extensions:\n  a:\n    b: 1\nz: 1\n'],
  ['', 'extensions:\n  a:\n    b: 1\n'],
  ['extensions:\n  "a":\n    old: |\n      x\n\n      y\n  c: 1\n', 'extensions:\n  a:\n    b: 1\n  c: 1\n'],
  ['extensions:\n    c: 1\n', 'extensions:\n    c: 1\n    a:\n      b: 1\n'],
])('YAML: %j', (before, after) => {
  expect(new YamlFile(before, 'x').with('extensions', 'a', '  a:\n    b: 1\n')).toBe(after)
})

test('YAML and TOML: a byte order mark, tabs and escapes in keys do not hide what is there', () => {
  const block = '  a:\n    b: 1\n'
  expect(new YamlFile('\uFEFFextensions:\n  c: 1\n', 'x').with('extensions', 'a', block)).toBe(
    '\uFEFFextensions:\n  c: 1\n  a:\n    b: 1\n',
  )
  expect(new YamlFile('extensions:\n  a:\t{}\n  c: 1\n', 'x').with('extensions', 'a', block)).toBe(
    'extensions:\n  a:\n    b: 1\n  c: 1\n',
  )
  expect(new TomlFile('["s"."\\u0061"]\nx = 1\n', 'x').get(['s', 'a'])).toBe('["s"."\\u0061"]\nx = 1\n')
  expect(new TomlFile('\uFEFF[s.a]\nx = 1\n', 'x').get(['s', 'a'])).toContain('x = 1')
})

test('YAML: without its last member a mapping is empty and not null', () => {
  const file = new YamlFile('extensions:\n  # mine\n  a:\n    b: 1\nz: 1\n', 'x')
  expect(file.with('extensions', 'a', undefined)).toBe('extensions: {}\n  # mine\nz: 1\n')
})

test('a diff has the changed lines alone, in hunks with their numbers', () => {
  const before = ['a', 'b', 'c', 'd', 'e'].join('\n')
  const after = ['a', 'B', 'c', 'd', 'new', 'e'].join('\n')
  expect(lineDiff(`${before}\n`, `${after}\n`, 'x')).toBe(
    '--- x\n+++ x\n@@ -2,1 +2,1 @@\n-b\n+B\n@@ -4,0 +5,1 @@\n+new',
  )
})
