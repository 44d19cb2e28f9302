import { expect } from 'vitest'
import { principalKey } from '../../src/common/principal-key.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleEntry } from '../support/entries.ts'

const before = { issuer: 'local', subject: 'local' }
const person = { issuer: 'urn:dragoman:local', subject: 'person:local' }
const ben = { issuer: 'urn:test', subject: 'ben' }

/**
 * What the command line of before stored belongs to the person at the machine after migration 0028, in the entries,
 * their changes and the usage of their owner. `again` marks the migration as not run.
 */
export async function movesToLocalPerson(open: () => Promise<Store>, again: () => Promise<unknown>) {
  const theirs = sampleEntry({ owner: { ...before, namespace: null } })
  const taken = sampleEntry({ owner: { ...ben, namespace: null }, taken_from: before })
  const own = sampleEntry({ owner: { ...person, namespace: null } })
  {
    await using store = await open()
    await store.write(async (writer) => {
      for (const entry of [theirs, taken, own]) await writer.put(entry)
    })
    expect(await store.personalData.entryIds(before)).toEqual([theirs.id])
  }
  await again()
  await using store = await open()
  expect(await store.personalData.entryIds(before)).toEqual([])
  expect((await store.personalData.entryIds(person)).toSorted()).toEqual([own.id, theirs.id].toSorted())
  const changes = await store.changes(3, 10)
  expect(changes).toMatchObject([{ revision: 4, entry_id: theirs.id, kind: 'put' }])
  expect(await store.read.revision()).toBe(4)
  const [moved] = await store.read.entries([theirs.id])
  expect(moved).toMatchObject({ owner: person, revision: 4 })
  const usage = await store.personalData.find(person, 'usage', 0, 10)
  expect(usage.rows).toMatchObject([{ account: principalKey(person), entries: 2 }])
}
