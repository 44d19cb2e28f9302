import { Failure, problem } from '../../schemas/failure.ts'

export const usageError = 2

/** Exit codes: 1 failed, 2 usage, 3 authentication or permission, 4 not found. */
function exitCodeOf({ code }: Failure): number {
  if (code === 'unauthenticated' || code === 'forbidden') return 3
  if (code === 'not_found' || code === 'unknown_action') return 4
  return code === 'invalid_request' ? usageError : 1
}

/** Data goes to standard output, one JSON document or text. */
export function print(data: unknown): void {
  process.stdout.write(
    typeof data === 'string' ? `${withoutControls(data)}\n` : `${JSON.stringify(data, null, 2)}\n`,
  )
}

/** Everything else goes to standard error. */
export function say(text: string): void {
  process.stderr.write(`${withoutControls(text)}\n`)
}

/** A text as a terminal may have it: whoever wrote a card commands nothing but colours. */
export function withoutControls(text: string): string {
  return text.replace(
    /(\p{Control}\[[\d;]*m)|[[\p{Control}\p{Bidi_Control}]--[\t\n]]/gv,
    (_, colour: string | undefined) => colour ?? '',
  )
}

/** Says what went wrong and sets the exit code. */
export function fail(thrown: unknown, json: boolean): void {
  const failure = Failure.from(thrown)
  process.exitCode = exitCodeOf(failure)
  if (json) say(JSON.stringify(problem(failure, 'cli')))
  else for (const line of explain(failure)) say(line)
}

function* explain({ message, code, details, cause }: Failure): Generator<string> {
  yield `${message} (${code})`
  for (const { pointer, detail } of details.errors ?? []) yield `  ${pointer || '/'}: ${detail}`
  if (details.nearest) yield `  Did you mean ${details.nearest.join(', ')}?`
  if (details.hint) yield `  ${details.hint}`
  if (code === 'internal' && cause instanceof Error) yield `  ${cause.message}`
}
