import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/**
 * The house: which folders the files of a folder may import, beside their own. The first row whose folder
 * holds a file counts. `import type` counts as much as any other import.
 */
const house: readonly { readonly folder: string; readonly may: readonly string[] }[] = [
  { folder: 'schemas', may: [] },
  { folder: 'agents/index.ts', may: ['schemas', 'agents'] },
  { folder: 'agents', may: ['schemas'] },
  { folder: 'src/router', may: ['schemas'] },
  { folder: 'src/store', may: ['schemas'] },
  { folder: 'src/search', may: ['schemas'] },
  { folder: 'src/net', may: ['schemas'] },
  { folder: 'src/auth', may: ['schemas'] },
  { folder: 'src/telemetry', may: ['schemas', 'src/router'] },
  { folder: 'src/remote', may: ['schemas', 'src/net', 'src/client'] },
  { folder: 'src/registry', may: ['schemas', 'src/store', 'src/search', 'src/net'] },
  { folder: 'src/transports', may: ['schemas', 'src/router', 'src/auth'] },
  { folder: 'src/client', may: ['schemas', 'src/transports'] },
  { folder: 'src/app/config.ts', may: ['schemas'] },
  { folder: 'src/app/assets.ts', may: [] },
  { folder: 'src/cli', may: ['schemas', 'src'] },
  { folder: 'src', may: ['schemas', 'agents', 'src'] },
]

/** Folders whose packages from npm are closed: schemas know zod and nothing else. */
const packages: Record<string, readonly string[]> = { schemas: ['zod'] }

interface Import {
  readonly file: string
  readonly specifier: string
}

const files = ['schemas', 'agents', 'src']
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !file.endsWith('.test.ts'))

export function importsOf(file: string, text: string): Import[] {
  const found = text.matchAll(/(?:\bfrom|\bimport\s*\(|^\s*import)\s*['"]([^'"]+)['"]/gm)
  return [...found].map((match) => ({ file, specifier: match[1] ?? '' }))
}

function violations(imports: readonly Import[]): string[] {
  return imports.flatMap(({ file, specifier }) => {
    const rule = house.find(({ folder }) => file === folder || file.startsWith(`${folder}/`))
    if (!rule) return `${file} stands in no room of the house`
    if (!specifier.startsWith('.')) {
      const allowed = packages[rule.folder]
      return allowed && !allowed.includes(specifier) ? `${file} imports the package ${specifier}` : []
    }
    const target = relative(root, resolve(root, dirname(file), specifier))
    const own =
      file.startsWith('agents/') && rule.folder === 'agents'
        ? file.split('/').slice(0, 2).join('/')
        : rule.folder
    const allowed = [own, ...rule.may].some((folder) => target === folder || target.startsWith(`${folder}/`))
    return allowed ? [] : `${file} imports ${target}`
  })
}

describe('the house', () => {
  const all = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))

  test('every file imports only what its room may', () => {
    expect(all.length).toBeGreaterThan(200)
    expect(violations(all)).toEqual([])
  })

  test('every relative import names a file that is there', () => {
    const missing = all.filter(
      ({ file, specifier }) =>
        specifier.startsWith('.') && !existsSync(resolve(root, dirname(file), specifier)),
    )
    expect(missing).toEqual([])
  })

  test.each([
    ['schemas/card.ts', "import { x } from '../src/router/router.ts'"],
    ['schemas/card.ts', "import express from 'express'"],
    ['agents/wiki/index.ts', "import type { Fetch } from '../../src/net/fetch.ts'"],
    ['agents/wiki/index.ts', "import { y } from '../finance/index.ts'"],
    ['src/router/router.ts', "import type { Door } from '../transports/door.ts'"],
    ['src/registry/registry.ts', "const z = await import('../transports/door.ts')"],
    ['src/store/store.ts', "import { q } from '../registry/view.ts'"],
    ['src/transports/shared/transport-context.ts', "import type { Gateway } from '../gateway.ts'"],
  ])('%s may not say %s', (file, line) => {
    expect(violations(importsOf(file, line))).toHaveLength(1)
  })

  test('the environment is read in one place', () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), 'utf8')))
    expect(readers).toEqual(['src/app/config.ts'])
  })
})
