import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { SingleBar } from 'cli-progress'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import { ask, openClient } from './client.ts'
import { unreadable } from './input.ts'
import { print, say } from './output.ts'
import { isExport, restore } from './restore.ts'

interface Report {
  created: number
  updated: number
  unchanged: number
  rejected: { line: number; reason: string }[]
  warnings: { line: number; message: string }[]
}

/** Characters and lines of one transaction: well under the 1 MiB that crosses dispatch. */
const batchCharacters = 400_000
const batchLines = 200
/** Lines left out, and lines with a warning, that a terminal shows. */
const maxShown = 20

/** Imports JSON lines, or restores an export; the first line says which. `-` names standard input. */
export async function importLines(file: string, replace: boolean, json: boolean): Promise<void> {
  const lines = linesOf(file)
  const { value: first = '' } = await lines.next()
  assertLine(first, file)
  if (isExport(first)) return await restore(first, lines, { file, replace, json })
  const report = await importAgents(file, first, lines)
  // Some of the file is not listed: a script should notice.
  if (report.rejected.length > 0) process.exitCode = 1
  if (json) return print(report)
  const messages = [
    ...report.rejected,
    ...report.warnings.map(({ line, message }) => ({ line, reason: `warning: ${message}` })),
  ].toSorted((left, right) => left.line - right.line)
  for (const { line, reason } of messages.slice(0, maxShown)) say(`line ${line}: ${reason}`)
  const more = messages.length - maxShown
  if (more > 0) {
    const again = `dragoman import ${file} --json > report.json`
    say(`and ${counted(more, 'line')} more. To see them all, import again, which changes nothing: ${again}`)
  }
  print(summary(report))
}

/** Throws Failure `invalid_request` where the first line only begins a JSON document, which goes on over more lines. */
function assertLine(line: string, file: string): void {
  if (!/^\s*[[{]\s*$/.test(line)) return
  throw new Failure('invalid_request', `${file} is one JSON document; import takes one agent on each line.`, {
    hint: line.trim().startsWith('[')
      ? `Write each agent on one line, as this does: jq -c '.[]' ${file}`
      : `To publish the agent of this document: dragoman publish ${file}`,
  })
}

/** Imports in batches; a line that cannot be listed is reported and skipped. */
async function importAgents(file: string, first: string, rest: AsyncIterable<string>): Promise<Report> {
  await using client = await openClient()
  const total: Report = { created: 0, updated: 0, unchanged: 0, rejected: [], warnings: [] }
  // Each batch waits for the index, a little: an index that must be derived first would slow down every one.
  await client.settled?.()
  using progress = await showProgress(file)
  for await (const { first_line, lines } of batches(first, rest)) {
    const params = { lines, first_line }
    try {
      add(total, await ask<Report>(client, 'import_entries', params))
    } catch (fault) {
      throw endedAt(fault, first_line, total)
    }
    progress.add(lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0))
  }
  // The index that is saved now has all of it, so that the next start derives nothing.
  await client.settled?.()
  return total
}

/** The failure of one batch: the batches before it are committed, and doing the import again changes nothing there. */
function endedAt(fault: unknown, line: number, total: Report): Failure {
  const { code, message, details } = Failure.from(fault)
  const again = `${summary(total)} before line ${line}. Import the file again once this is mended: what is imported stays as it is.`
  const hint = details.hint === undefined ? again : `${details.hint} ${again}`
  return new Failure(code, `The import ended at line ${line}: ${message}`, { ...details, hint }, fault)
}

function summary({ created, updated, unchanged, rejected, warnings }: Report): string {
  const warned = warnings.length > 0 ? `, ${counted(warnings.length, 'warning')}` : ''
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected.length} left out${warned}`
}

/** A bar on a terminal; standard input has no size, so nothing is shown for it. */
async function showProgress(file: string): Promise<{ add(bytes: number): void } & Disposable> {
  if (file === '-') return { add() {}, [Symbol.dispose]() {} }
  const { size } = await stat(file)
  const bar = new SingleBar({
    stream: process.stderr,
    format: 'importing {bar} {percentage}%',
    noTTYOutput: false,
  })
  bar.start(size, 0)
  let read = 0
  return {
    add(bytes) {
      read = Math.min(read + bytes, size)
      bar.update(read)
    },
    [Symbol.dispose]: () => bar.stop(),
  }
}

async function* batches(
  first: string,
  rest: AsyncIterable<string>,
): AsyncGenerator<{ first_line: number; lines: string[] }> {
  let lines = first === '' ? [] : [first]
  let characters = first.length
  let first_line = 1
  let number = 1
  for await (const line of rest) {
    number += 1
    if (lines.length > 0 && (lines.length >= batchLines || characters + line.length > batchCharacters)) {
      yield { first_line, lines }
      lines = []
      characters = 0
      first_line = number
    }
    lines.push(line)
    characters += line.length
  }
  if (lines.length > 0) yield { first_line, lines }
}

/** A gateway of an older version gives no warnings. */
function add(total: Report, report: Omit<Report, 'warnings'> & Partial<Report>): void {
  total.created += report.created
  total.updated += report.updated
  total.unchanged += report.unchanged
  total.rejected.push(...report.rejected)
  total.warnings.push(...(report.warnings ?? []))
}

/**
 * The lines of a file of JSON lines; `-` names standard input. Only LF and CRLF end a line: JSON texts may hold U+2028 and U+2029, at which
 * `node:readline` splits too. Throws Failure `invalid_request` if the file cannot be read.
 */
async function* linesOf(file: string): AsyncGenerator<string> {
  const input =
    file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, { encoding: 'utf8' })
  let rest = ''
  try {
    for await (const chunk of input) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield withoutReturn(line)
    }
  } catch (fault) {
    throw unreadable(file, fault)
  }
  if (rest !== '') yield withoutReturn(rest)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
