import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleEntry } from '../support/entries.ts'
import { postgresFolder, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { run } from '../support/processes.ts'
import { type StoreHome, storeContract, storeTime } from './contract.ts'
import { credentialContract } from './credential-contract.ts'
import { sessionContract } from './session-contract.ts'
import { taskContract } from './task-contract.ts'

const fixture = resolve(import.meta.dirname, 'elsewhere.ts')

describe.skipIf(!postgresFolder)('PostgreSQL', () => {
  let postgres: TestPostgres
  let migrated: string
  beforeAll(async () => {
    postgres = await startPostgres()
    migrated = await postgres.createDatabase()
    await using _ = await open(migrated)
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  const open = (url: string, failed: (fault: unknown) => void = () => {}): Promise<Store> =>
    openPostgresStore(url, { clock: () => storeTime, failed, start_ms: 0 })

  async function openHome(): Promise<StoreHome & { readonly url: string }> {
    const stack = new AsyncDisposableStack()
    const url = await postgres.createDatabase(migrated)
    const another = async () => stack.use(await open(url))
    return {
      url,
      store: await another(),
      another,
      sees_others: false,
      told: (store, revision) =>
        vi.waitFor(async () => expect(await store.read.revision()).toBeGreaterThanOrEqual(revision), {
          timeout: 2000,
          interval: 1,
        }),
      async elsewhere(prefix, count) {
        const { code, stdout, stderr } = await run(process.execPath, [fixture, url, prefix, String(count)])
          .ended
        if (code !== 0) throw new Error(stderr)
        return stdout.trim().split('\n').map(Number)
      },
      async spoil(id, document) {
        await postgres.query(url, 'update entry set document = $1 where id = $2', [document, id])
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  storeContract('PostgreSQL', openHome)
  credentialContract('PostgreSQL', openHome)
  taskContract('PostgreSQL', openHome)
  sessionContract('PostgreSQL', openHome)
})
