import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { sampleEntry, sampleId } from '../support/entries.ts'

// A process that commits entries one by one and prints the revision of each: elsewhere.ts PATH PREFIX COUNT.
const [path = '', prefix = '', count = '0'] = process.argv.slice(2)
const start = Number.parseInt(Buffer.from(prefix).toString('hex').slice(-10), 16)
await using store = await openSqliteStore(path)
for (let number = 0; number < Number(count); number++) {
  const entry = sampleEntry({ id: sampleId(start * 1000 + number), package_name: `${prefix}-${number}` })
  const { revision } = await store.write((writer) => writer.put(entry))
  process.stdout.write(`${revision}\n`)
}
