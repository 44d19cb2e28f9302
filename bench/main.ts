import { parseArgs } from 'node:util'
import type { Row } from './support/measure.ts'

/** Each benchmark prints rows: a value, the baseline measured in the same run, and their ratio. */
const benchmarks: Record<string, () => Promise<readonly Row[]>> = {
  a2a: async () => (await import('./a2a.ts')).a2a(),
  auth: async () => (await import('./auth.ts')).auth(),
  catalog: async () => (await import('./catalog.ts')).catalog(),
  cost: async () => (await import('./cost.ts')).cost(),
  embed: async () => (await import('./embed.ts')).embed(),
  forward: async () => (await import('./forward.ts')).forward(),
  http: async () => (await import('./http.ts')).http(),
  liveness: async () => (await import('./liveness.ts')).liveness(),
  mcp: async () => (await import('./mcp.ts')).mcp(),
  page: async () => (await import('./page.ts')).page(),
  run: async () => (await import('./run.ts')).run(),
  search: async () => (await import('./search.ts')).search(),
  start: async () => (await import('./start.ts')).start(),
  store: async () => (await import('./store.ts')).store(),
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})
const names = positionals.length > 0 ? positionals : Object.keys(benchmarks)
const rows: Row[] = []
for (const name of names) {
  const benchmark = benchmarks[name]
  if (!benchmark) {
    console.error(`There is no benchmark ${name}. There are ${Object.keys(benchmarks).join(', ')}.`)
    process.exitCode = 2
    break
  }
  rows.push(...(await benchmark()))
}
if (values.json) console.log(JSON.stringify(rows, null, 2))
else console.table(rows.map((row) => ({ ...row, ratio: row.ratio.toFixed(2) })))
