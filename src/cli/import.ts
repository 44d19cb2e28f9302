import { stat } from 'node:fs/promises'
import { SingleBar } from 'cli-progress'
import { Failure } from '../../schemas/failure.ts'
import { openClient } from './client.ts'
import { linesOf } from './lines.ts'
import { print, say } from './output.ts'

interface Report {
  created: number
  updated: number
  unchanged: number
  rejected: { line: number; reason: string }[]
}

/** Characters and lines of one transaction: well under the 1 MiB that crosses dispatch. */
const batchCharacters = 400_000
const batchLines = 200

/** Imports a file of JSON lines in batches; a line that cannot be listed is reported and skipped. */
export async function importFile(file: string, json: boolean): Promise<void> {
  const { size } = await stat(file).catch((fault) => {
    throw new Failure('invalid_request', `${file} cannot be read.`, {}, fault)
  })
  await using client = await openClient()
  const total: Report = { created: 0, updated: 0, unchanged: 0, rejected: [] }
  const bar = new SingleBar({
    stream: process.stderr,
    format: 'importing {bar} {percentage}%',
    noTTYOutput: false,
  })
  bar.start(size, 0)
  let read = 0
  for await (const { first, lines } of batches(file)) {
    const params = { lines, first_line: first }
    const report = (await client.send({
      to: 'svc.registry',
      action: 'import_entries',
      params,
    })) as unknown as Report
    add(total, report)
    read += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
    bar.update(Math.min(read, size))
  }
  bar.update(size)
  bar.stop()
  if (json) {
    print(total)
    return
  }
  for (const { line, reason } of total.rejected) say(`line ${line}: ${reason}`)
  const { created, updated, unchanged, rejected } = total
  print(`${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected.length} left out`)
}

async function* batches(file: string): AsyncGenerator<{ first: number; lines: string[] }> {
  let lines: string[] = []
  let characters = 0
  let first = 1
  let number = 0
  for await (const line of linesOf(file)) {
    number += 1
    if (lines.length > 0 && (lines.length >= batchLines || characters + line.length > batchCharacters)) {
      yield { first, lines }
      lines = []
      characters = 0
      first = number
    }
    lines.push(line)
    characters += line.length
  }
  if (lines.length > 0) yield { first, lines }
}

function add(total: Report, report: Report): void {
  total.created += report.created
  total.updated += report.updated
  total.unchanged += report.unchanged
  total.rejected.push(...report.rejected)
}
