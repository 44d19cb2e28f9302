import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRegistry } from './registry.ts'

const folder = resolve(import.meta.dirname, '../../../shared/data')
const files = ['mcp-servers.jsonl', 'a2a-cards.jsonl'] as const

/** The first lines of each published list, of which at least `least` can be listed. */
export function publishedLists(most: number, least: readonly [servers: number, cards: number]): void {
  const read = (file: string) =>
    readFileSync(`${folder}/${file}`, 'utf8').trimEnd().split('\n').slice(0, most)

  describe.skipIf(!existsSync(folder))('the lists that people published', () => {
    test('are listed nearly whole, and importing them again bumps no revision', async () => {
      await using registry = await openRegistry()
      async function importAll(file: string): Promise<{ created: number; updated: number }> {
        const total = { created: 0, updated: 0 }
        const lines = read(file)
        for (let start = 0; start < lines.length; start += 200) {
          const report = await registry.importLines(lines.slice(start, start + 200), start + 1)
          total.created += report.created
          total.updated += report.updated
        }
        return total
      }
      const created: number[] = []
      for (const file of files) created.push((await importAll(file)).created)
      for (const [at, count] of least.entries()) expect(created[at]).toBeGreaterThanOrEqual(count)
      expect((await registry.find({ limit: 1 })).total).toBe(created.reduce((sum, count) => sum + count))
      const before = await registry.store.read.revision()
      for (const file of files) expect(await importAll(file)).toEqual({ created: 0, updated: 0 })
      expect(await registry.store.read.revision()).toBe(before)
    })
  })
}
