import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/**
 * Which folders the files of a folder may import, beside their own. The first row whose folder holds a file counts.
 * `import type` counts as much as any other import.
 */
const layers: readonly { readonly folder: string; readonly may: readonly string[] }[] = [
  { folder: 'schemas', may: [] },
  { folder: 'src/common', may: [] },
  { folder: 'agents/reader/html-to-markdown', may: ['src/common'] },
  { folder: 'agents/index.ts', may: ['schemas', 'src/common', 'agents'] },
  { folder: 'agents', may: ['schemas', 'src/common'] },
  { folder: 'src/router', may: ['schemas', 'src/common'] },
  { folder: 'src/store/migrations', may: [] },
  { folder: 'src/store', may: ['schemas', 'src/common'] },
  { folder: 'src/search/vectors', may: ['src/common'] },
  { folder: 'src/search', may: ['schemas', 'src/common'] },
  { folder: 'src/net', may: ['schemas', 'src/common'] },
  { folder: 'src/auth', may: ['schemas', 'src/common'] },
  { folder: 'src/telemetry', may: ['schemas', 'src/common', 'src/router'] },
  { folder: 'src/remote/json-schema', may: ['src/common'] },
  { folder: 'src/remote', may: ['schemas', 'src/common', 'src/net'] },
  { folder: 'src/runner', may: ['schemas', 'src/common'] },
  {
    folder: 'src/registry',
    may: ['schemas', 'src/common', 'src/store', 'src/search', 'src/net', 'src/runner'],
  },
  { folder: 'src/transports', may: ['schemas', 'src/common', 'src/router', 'src/auth'] },
  { folder: 'src/client', may: ['schemas', 'src/common'] },
  { folder: 'src/app', may: ['schemas', 'agents', ...domains()] },
  { folder: 'src/cli', may: ['schemas', 'src/app', ...domains()] },
]

/** Every folder of `src/` below the wiring. */
function domains(): string[] {
  const folders = 'common router store search net auth telemetry remote runner registry transports client'
  return folders.split(' ').map((folder) => `src/${folder}`)
}

/** Folders whose packages from npm are a closed list. */
const packages: Record<string, readonly string[]> = {
  schemas: ['zod'],
  'src/store/migrations': ['kysely', 'node:crypto'],
}

interface Import {
  readonly file: string
  readonly specifier: string
}

const files = ['schemas', 'agents', 'src']
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !file.endsWith('.test.ts'))

function importsOf(file: string, text: string): Import[] {
  const found = text.matchAll(/(?:\bfrom|\bimport\s*\(|^\s*import)\s*['"]([^'"]+)['"]/gm)
  return [...found].map((match) => ({ file, specifier: match[1] ?? '' }))
}

function violations(imports: readonly Import[]): string[] {
  return imports.flatMap(({ file, specifier }) => {
    const rule = layers.find(({ folder }) => file === folder || file.startsWith(`${folder}/`))
    if (!rule) return `${file} stands in no folder of the table`
    if (!specifier.startsWith('.')) {
      const allowed = packages[rule.folder]
      return allowed && !allowed.some((name) => specifier === name || specifier.startsWith(`${name}/`))
        ? `${file} imports the package ${specifier}`
        : []
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

type Graph = ReadonlyMap<string, readonly string[]>

function graphOf(imports: readonly Import[]): Graph {
  const graph = new Map<string, string[]>()
  for (const { file, specifier } of imports) {
    if (!specifier.startsWith('.')) continue
    const target = relative(root, resolve(root, dirname(file), specifier))
    graph.set(file, [...(graph.get(file) ?? []), target])
  }
  return graph
}

/** Each circle once: a file, the files that it leads to, and back. */
function circles(graph: Graph): string[][] {
  const done = new Set<string>()
  const found: string[][] = []
  function visit(file: string, path: readonly string[]): void {
    const start = path.indexOf(file)
    if (start !== -1) found.push(path.slice(start))
    if (start !== -1 || done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

describe('the layers', () => {
  const all = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))

  test('every file imports only what its folder may', () => {
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
    ['src/common/clock.ts', "import type { Failure } from '../../schemas/failure.ts'"],
    ['agents/wiki/index.ts', "import type { Fetch } from '../../src/net/fetch/fetch.ts'"],
    ['agents/wiki/index.ts', "import { y } from '../finance/index.ts'"],
    ['src/router/router.ts', "import type { Reply } from '../transports/shared/stringify.ts'"],
    ['src/registry/registry.ts', "const z = await import('../transports/http/app.ts')"],
    ['src/store/store.ts', "import { q } from '../registry/entry/view.ts'"],
    ['src/store/migrations/0010-versions.ts', "import { versionRow } from '../entries/version-content.ts'"],
    ['src/transports/http/app.ts', "import type { Gateway } from '../../app/gateway.ts'"],
    ['src/remote/json-schema/pattern.ts', "import { Failure } from '../../../schemas/failure.ts'"],
  ])('%s may not say %s', (file, line) => {
    expect(violations(importsOf(file, line))).toHaveLength(1)
  })

  test('no files import each other in a circle, types included', () => {
    expect(circles(graphOf(all))).toEqual([])
    const planted = graphOf([
      { file: 'src/a/one.ts', specifier: './two.ts' },
      { file: 'src/a/two.ts', specifier: '../b/three.ts' },
      { file: 'src/b/three.ts', specifier: '../a/one.ts' },
    ])
    expect(circles(planted)).toEqual([['src/a/one.ts', 'src/a/two.ts', 'src/b/three.ts']])
  })

  test('the environment is read in one place', () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), 'utf8')))
    expect(readers).toEqual(['src/app/config.ts'])
  })
})
