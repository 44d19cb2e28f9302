import { expect, test } from 'vitest'
import { watchListed } from '../../src/registry/indexing/listed-watcher.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { documentOf } from '../search/support/documents.ts'

test('the set of listed agents changes when one comes or goes, and not when one is staged, changed or removed unseen', async () => {
  const listed = watchListed(createMemoryIndex())
  let notified = 0
  const stop = listed.onChange(() => {
    notified += 1
  })
  let revision = 0
  const apply = async (document: ReturnType<typeof documentOf> | null) => {
    const before = notified
    await listed.index.apply([{ id: 'a', document }], ++revision)
    return notified - before
  }
  const as = (state: 'STAGE' | 'ACTIVE' | 'SUSPENDED', name = 'One') => documentOf({ id: 'a', state, name })
  expect(await apply(as('STAGE'))).toBe(0)
  expect(await apply(as('ACTIVE'))).toBe(1)
  expect(await apply(as('ACTIVE', 'Another'))).toBe(0)
  expect(await apply(as('SUSPENDED'))).toBe(1)
  expect(await apply(as('ACTIVE'))).toBe(1)
  expect(await apply(null)).toBe(1)
  expect(await apply(null)).toBe(0)
  stop()
  expect(await apply(as('ACTIVE'))).toBe(0)
  expect(listed.index.applied_revision).toBe(revision)
})
