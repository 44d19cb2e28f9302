import { openStore } from '../../src/store/open-store.ts'
import { sampleEntry, sampleId } from '../support/entries.ts'

// A process that commits entries one by one and prints the revision of each: other-process.ts LOCATION PREFIX
// COUNT, where LOCATION is a file or the URL of a PostgreSQL database.
const [location = '', prefix = '', count = '0'] = process.argv.slice(2)
const start = Number.parseInt(Buffer.from(prefix).toString('hex').slice(-10), 16)
const url = location.startsWith('postgresql:') ? location : undefined
await using store = await openStore({ path: location, url }, { clock: Date.now, onError() {} })
for (let number = 0; number < Number(count); number++) {
  const entry = sampleEntry({ id: sampleId(start * 1000 + number), package_name: `${prefix}-${number}` })
  const { revision } = await store.write((writer) => writer.put(entry))
  process.stdout.write(`${revision}\n`)
}
