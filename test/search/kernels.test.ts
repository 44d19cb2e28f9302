import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import wabt from 'wabt'

/** With `-u` at the end of the command this rewrites the bytes. */
it.each([
  ['vectors/memory', { simd: true, threads: true, relaxed_simd: true }],
  ['index/words', { simd: true, threads: true }],
])('kernel.ts of %s holds the bytes of its kernel.wat', async (name, features) => {
  const folder = new URL(`../../src/search/${name}/`, import.meta.url)
  const text = readFileSync(new URL('kernel.wat', folder), 'utf8')
  const { parseWat } = await wabt()
  const module = parseWat('kernel.wat', text, features)
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const source = `/** The bytes of kernel.wat in base64. */\nexport const kernel =\n  '${base64}'\n`
  await expect(source).toMatchFileSnapshot(fileURLToPath(new URL('kernel.ts', folder)))
})
