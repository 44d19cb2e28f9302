import type { ProcessLaunch } from './launch.ts'
import { literalOf, type Template } from './template.ts'

/** One word of a POSIX shell that stands for the text, whatever it holds. */
function quote(text: string): string {
  if (/^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:=@%+,-]*$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A command line of such words. */
export function lineOf(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

/** One word, with the user's values as variables of the shell. */
function wordOf(template: Template): string {
  const literal = literalOf(template)
  if (literal !== undefined) return quote(literal)
  return template
    .map((piece) => (typeof piece === 'string' ? quote(piece) : `"\${${piece.variable}}"`))
    .join('')
}

/** The line that starts a process by hand. */
export function startLine({ command, args, env }: ProcessLaunch): string {
  const variables = env.map(({ name, value }) => `${name}=${wordOf(value)}`)
  return [...variables, quote(command), ...args.map(wordOf)].join(' ')
}
