import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { sampleEntry } from '../support/entries.ts'

// A process that writes until its small disk is full and prints its results as JSON: fill.ts FOLDER.
const [folder = ''] = process.argv.slice(2)
await using store = await openSqliteStore(`${folder}/registry.sqlite`)
const small = sampleEntry()
await store.write((writer) => writer.put(small))

const faults: unknown[] = []
let acknowledged = 1
const description = 'x'.repeat(50_000)
for (let number = 0; number < 200 && faults.length < 3; number++) {
  await store
    .write((writer) => writer.put(sampleEntry({ description })))
    .then(({ revision }) => {
      acknowledged = revision
    })
    .catch((fault) => faults.push(fault.code ?? String(fault)))
}
const log = await store.changes(0, 1000)
process.stdout.write(
  JSON.stringify({
    faults,
    acknowledged,
    revision: await store.read.revision(),
    changes: log.length,
    readable: (await store.read.entries(log.map((change) => change.entry_id))).length,
  }),
)
