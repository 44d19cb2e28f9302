import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/command.ts'

const root = resolve(import.meta.dirname, '..')
const biome = join(root, 'node_modules/.bin/biome')

/** One violation of each rule that we rely on, with the file that it stands in. */
const violations: Record<string, string> = {
  'nursery/noFloatingPromises': 'async function work() {}\nexport function start() {\n  work()\n}\n',
  'nursery/noMisusedPromises':
    'export function each(items: number[]) {\n  items.forEach(async (item) => {\n    await item\n  })\n}\n',
  'suspicious/noImportCycles': "import { two } from './two.ts'\nexport const one = () => two\n",
  'suspicious/noExplicitAny': 'export const anything: any = 1\n',
  'suspicious/noConsole': "console.log('hello')\n",
  'style/useImportType': "import { Shape } from './shape.ts'\nexport const shape: Shape = {}\n",
  'style/useNodejsImportProtocol': "import { join } from 'path'\nexport const path = join('a', 'b')\n",
  'style/noProcessEnv': 'export const home = process.env.HOME\n',
  'correctness/noUnusedImports': "import { shape } from './shape.ts'\nexport const nothing = 1\n",
  'correctness/noUndeclaredDependencies': "import left from 'left-pad'\nexport const pad = left\n",
}

test('the linter refuses each thing that it is relied on for', async () => {
  await using folder = await temporaryFolder()
  const config = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8'))
  await mkdir(join(folder.path, 'src'))
  await writeFile(
    join(folder.path, 'biome.json'),
    JSON.stringify({ ...config, $schema: undefined, vcs: { enabled: false } }),
  )
  await writeFile(join(folder.path, 'package.json'), '{"dependencies":{}}')
  await writeFile(join(folder.path, 'src/shape.ts'), 'export type Shape = object\nexport const shape = {}\n')
  await writeFile(
    join(folder.path, 'src/two.ts'),
    `import { one } from './${fileOf('suspicious/noImportCycles')}'\nexport const two = () => one\n`,
  )
  for (const [rule, text] of Object.entries(violations))
    await writeFile(join(folder.path, 'src', fileOf(rule)), text)

  const report = await new Promise<string>((done) => {
    const args = ['lint', '--reporter=github', '--max-diagnostics=none', 'src']
    execFile(biome, args, { cwd: folder.path }, (_, stdout, stderr) => done(stdout + stderr))
  })
  const missed = Object.keys(violations).filter((rule) => {
    const mine = report.split('\n').filter((line) => line.includes(fileOf(rule)))
    return !mine.some((line) => line.includes(`lint/${rule}`))
  })
  expect(missed).toEqual([])
})

function fileOf(rule: string): string {
  return `${rule.split('/')[1]?.toLowerCase()}.ts`
}
