import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { styleText } from 'node:util'
import { Failure, problem } from '../../schemas/failure.ts'
import { escapeHidden } from '../common/escape-hidden.ts'
import { asTyped, inCommands } from './invocation.ts'
import type { Column } from './table.ts'

export const usageError = 2

/** Exit codes: 1 failed, 2 usage, 3 authentication or permission, 4 not found. */
function exitCodeOf({ code }: Failure): number {
  if (code === 'unauthenticated' || code === 'forbidden') return 3
  if (code === 'not_found' || code === 'unknown_action') return 4
  return code === 'invalid_request' ? usageError : 1
}

/** Data goes to standard output, one JSON document or text. */
export function print(data: unknown): void {
  process.stdout.write(`${typeof data === 'string' ? escapeControls(data) : jsonText(data)}\n`)
}

/** One JSON document on one line, for a stream of them. */
export function printLine(data: unknown): void {
  process.stdout.write(`${escapeHidden(JSON.stringify(data))}\n`)
}

/** Everything else goes to standard error, with commands as they are typed here. */
export function say(text: string): void {
  process.stderr.write(`${escapeControls(asTyped(text))}\n`)
}

/** Prints a long text: on a terminal that it would not fit, by $PAGER or less. */
export async function page(text: string): Promise<void> {
  const { isTTY, rows } = process.stdout
  if (!isTTY || text.split('\n').length < rows) return print(text)
  const { readUserPrograms } = await import('../app/config.ts')
  const pager = spawn(readUserPrograms().pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'] })
  // The pager may end before it has read everything.
  pager.stdin.on('error', () => {})
  pager.stdin.end(`${escapeControls(text)}\n`)
  const [code] = await once(pager, 'close')
  // A shell answers 127 for a program that is not there.
  if (code === 127) print(text)
}

/** Prints rows as a table fitted to the terminal; in a pipe, rows of whole cells separated by tabs, without a head. */
export async function printTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  if (rows.length === 0) return
  const { table } = await import('./table.ts')
  const safe = rows.map((row) => row.map(escapeControls))
  await page(table(columns, safe, widthOfTerminal()).join('\n'))
}

/** Columns of the terminal; undefined in a pipe. */
function widthOfTerminal(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined
}

const styles = {
  good: ['ACTIVE', 'alive', 'domain_verified', 'open', 'hosted'],
  doubtful: ['STAGE', 'degraded', 'unverified', 'needs_key', 'needs_sign_in', 'stated', 'deprecated'],
  bad: ['suspended', 'unreachable', 'dead', 'stale'],
}

/** Colours a state, a verification level, a kind of access or a liveness. */
export function coloured(word: string): string {
  if (styles.good.includes(word)) return styleText('green', word)
  if (styles.doubtful.includes(word)) return styleText('yellow', word)
  return styles.bad.includes(word) ? styleText('red', word) : word
}

export function bold(text: string): string {
  return styleText('bold', text)
}

/**
 * Shows characters that command a terminal or are invisible in it as \uXXXX: printed texts may come from third
 * parties. Joiners and selectors of emoji are left out. The styles that this command line uses itself stay.
 */
export function escapeControls(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the styles of this command line begin with it
    /(\u{1b}\[(?:1|22|3[1236]|39)m)|[\u200d\ufe0e\ufe0f]|[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n]]/gv,
    (found, style: string | undefined) =>
      style ?? (/[\u200d\ufe0e\ufe0f]/.test(found) ? '' : escapeHidden(found)),
  )
}

/** JSON for people and programs, without characters that command a terminal. */
export function jsonText(data: unknown): string {
  return escapeHidden(JSON.stringify(data, null, 2))
}

/** Prints what went wrong and sets the exit code. */
export function fail(thrown: unknown, json: boolean): void {
  const failure = thrown instanceof Failure ? thrown : unexpected(thrown)
  process.exitCode = exitCodeOf(failure)
  if (json) {
    const { hint, ...rest } = problem(failure, 'cli')
    process.stderr.write(
      `${jsonText(hint === undefined ? rest : { ...rest, hint: asTyped(inCommands(hint)) })}\n`,
    )
  } else for (const line of explain(failure)) say(line)
}

/** No log has it: a command line that ends is not a gateway. */
function unexpected(thrown: unknown): Failure {
  return new Failure('internal', 'An unexpected error ended the command.', {}, thrown)
}

/** A text of another, whose further lines are marked: none of them may look like a line of this command line. */
export function marked(text: string): string {
  return text.replaceAll('\n', '\n  | ')
}

function* explain({ message, code, details, cause }: Failure): Generator<string> {
  yield `${marked(message)} (${code})`
  // The message repeats the first of the errors.
  for (const { pointer, detail } of details.errors ?? [])
    if (!message.includes(detail)) yield marked(`  ${pointer || '/'}: ${detail}`)
  if (details.nearest) yield marked(`  Did you mean ${details.nearest.join(', ')}?`)
  if (details.hint) yield `  ${inCommands(details.hint)}`
  if (code === 'internal' && cause instanceof Error) yield `  ${marked(cause.message)}`
}
