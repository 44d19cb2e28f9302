// Gathers the modules of the command into a few files, dist/src/bundle: a start spends most of its time in the
// resolution of some 700 to 1,700 small modules. Workers and the clients in other programs load dist/ as it is.
// usage: node scripts/bundle.ts, after tsc
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'dist/src/bundle')

/** Packages of many small modules, without state that two copies could have apart. */
const inlined = ['jose', 'kysely', 'semver', 'zod']

/** Modules whose own place tells them where other files are. */
const placed = ['app/assets.js', 'common/optional-package.js', 'runner/inside-scripts.js']

/** Rolldown takes this helper, for templates that end a script element, from a package. */
const templateHelper: Plugin = {
  name: 'template-helper',
  resolveId: (id) => (id === '@oxc-project/runtime/helpers/taggedTemplateLiteral' ? id : null),
  load: (id) =>
    id === '@oxc-project/runtime/helpers/taggedTemplateLiteral'
      ? 'export default (strings, raw) => Object.freeze(Object.defineProperty(strings, "raw", { value: raw ?? strings.slice() }))'
      : null,
}

function isExternal(id: string): boolean {
  if (placed.some((path) => id.endsWith(`/${path}`))) return true
  const isPackage = !/^[./]|^@oxc-project\/runtime\//.test(id)
  return isPackage && !inlined.some((name) => id === name || id.startsWith(`${name}/`))
}

const bundle = await rolldown({
  input: { main: join(root, 'dist/src/cli/main.js') },
  platform: 'node',
  transform: { target: 'esnext' },
  external: isExternal,
  plugins: [templateHelper],
})
const { output } = await bundle.write({ dir: folder, chunkFileNames: '[name]-[hash].js' })
assertInstalled(
  output.flatMap((file) => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : [])),
)

/** What the bundle imports must be a file of its own, of Node, or a package that is installed with it. */
function assertInstalled(imports: readonly string[]): void {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const packages = imports.filter((id) => !/^(node:|[./])|-[\w-]{8}\.js$|^main\.js$/.test(id))
  const missing = packages.filter(
    (id) => !Object.keys(dependencies).some((name) => `${id}/`.startsWith(`${name}/`)),
  )
  if (missing.length > 0) throw new Error(`The bundle imports ${missing.join(', ')}.`)
}

/** The terms of the packages, whose copies the bundle has. */
const licenses = inlined.map((name) => {
  const place = join(root, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as { version: string }
  const file = ['LICENSE', 'LICENSE.md'].map((candidate) => join(place, candidate)).find(existsSync)
  if (file === undefined) throw new Error(`${name} has no licence file.`)
  return `${name} ${version}\n\n${readFileSync(file, 'utf8').trim()}\n`
})
writeFileSync(join(folder, 'LICENSES.txt'), licenses.join('\n---\n\n'))
