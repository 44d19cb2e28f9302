import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import wabt from 'wabt'

const folder = new URL('../../../src/search/vectors/memory/', import.meta.url)

/** With `-u` at the end of the command this rewrites the bytes. */
it('holds the bytes of kernel.wat', async () => {
  const text = readFileSync(new URL('kernel.wat', folder), 'utf8')
  const { parseWat } = await wabt()
  const module = parseWat('kernel.wat', text, { simd: true, threads: true, relaxed_simd: true })
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const source = `/** The bytes of kernel.wat in base64. */\nexport const kernel =\n  '${base64}'\n`
  await expect(source).toMatchFileSnapshot(fileURLToPath(new URL('kernel.ts', folder)))
})
