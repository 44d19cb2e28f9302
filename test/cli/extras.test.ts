import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadLibrary } from '../../src/search/vectors/lance/library.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { startPackageRegistry } from '../support/package-registry.ts'

const registry = await startPackageRegistry()
for (const [name, version] of [
  ['@lancedb/lancedb', '0.31.0'],
  ['apache-arrow', '18.1.0'],
] as const) {
  const manifest = { main: 'index.js' }
  registry.publish({ name, version, manifest, files: { 'index.js': `exports.name = '${name}'` } })
}
afterAll(() => registry[Symbol.asyncDispose]())

const environmentOf = (folder: string) => ({
  DRAGOMAN_EXTRAS: folder,
  DRAGOMAN_DATA: join(folder, 'data'),
  HOME: folder,
  npm_config_registry: registry.npm,
  npm_config_cache: join(folder, 'cache'),
})

test('an optional part is installed into the folder of extras, from where it is loaded first', async () => {
  await using folder = await temporaryFolder()
  const environment = environmentOf(folder.path)
  const { stderr } = await run(['extras', 'add', 'lance'], environment)
  expect(stderr).toContain('Installed in')
  const place = join(folder.path, 'node_modules/@lancedb/lancedb')
  expect(existsSync(join(place, 'index.js'))).toBe(true)
  const { stdout } = await run(['extras', 'list', '--json'], environment)
  expect(JSON.parse(stdout).extras[0]).toEqual({
    name: 'lance',
    packages: ['@lancedb/lancedb@0.31.0', 'apache-arrow@18.1.0'],
    installed: place,
  })
  const { lance, arrow } = loadLibrary(folder.path) as unknown as Record<string, { name: string }>
  expect([lance?.name, arrow?.name]).toEqual(['@lancedb/lancedb', 'apache-arrow'])
}, 60_000)

test('an unknown part is refused with the names that exist, and a registry that lacks it by what npm says', async () => {
  await using folder = await temporaryFolder()
  const environment = environmentOf(folder.path)
  const unknown = await run(['extras', 'add', 'lanse'], environment)
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('lance, transformers')])
  const missing = await run(['extras', 'add', 'transformers'], environment)
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('npm could not install it')])
}, 60_000)
