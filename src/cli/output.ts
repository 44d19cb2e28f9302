import { Failure, problem } from '../../schemas/failure.ts'
import { escapeHidden } from '../common/escape-hidden.ts'

export const usageError = 2

/** Exit codes: 1 failed, 2 usage, 3 authentication or permission, 4 not found. */
function exitCodeOf({ code }: Failure): number {
  if (code === 'unauthenticated' || code === 'forbidden') return 3
  if (code === 'not_found' || code === 'unknown_action') return 4
  return code === 'invalid_request' ? usageError : 1
}

/** Data goes to standard output, one JSON document or text. */
export function print(data: unknown): void {
  process.stdout.write(`${typeof data === 'string' ? withoutControls(data) : safeJson(data)}\n`)
}

/** Everything else goes to standard error. */
export function say(text: string): void {
  process.stderr.write(`${withoutControls(text)}\n`)
}

/**
 * Removes characters that command a terminal or are invisible in it: printed texts may come from third parties. The
 * bold type and the three colours that this command line uses itself stay.
 */
export function withoutControls(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the styles of this command line begin with it
    /(\u{1b}\[(?:1|22|31|33|36|39)m)|[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n]]/gv,
    (_, style: string | undefined) => style ?? '',
  )
}

function safeJson(data: unknown): string {
  return escapeHidden(JSON.stringify(data, null, 2))
}

/** Prints what went wrong and sets the exit code. */
export function fail(thrown: unknown, json: boolean): void {
  const failure = Failure.from(thrown)
  process.exitCode = exitCodeOf(failure)
  if (json) process.stderr.write(`${safeJson(problem(failure, 'cli'))}\n`)
  else for (const line of explain(failure)) say(line)
}

function* explain({ message, code, details, cause }: Failure): Generator<string> {
  yield `${message} (${code})`
  const errors = (details.errors ?? []).map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`)
  for (const error of errors) if (error !== message) yield `  ${error}`
  if (details.nearest) yield `  Did you mean ${details.nearest.join(', ')}?`
  if (details.hint) yield `  ${details.hint}`
  if (code === 'internal' && cause instanceof Error) yield `  ${cause.message}`
}
