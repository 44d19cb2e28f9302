import { Failure } from '../../../schemas/failure.ts'
import { hidesCharacters } from '../../../schemas/text.ts'

/** The refusal of a target: the member of the entry that is at fault, what is wrong with it, and what to do. */
export function refuse(pointer: string, detail: string, hint?: string): Failure {
  return new Failure('not_installable', `${pointer}: ${detail}`, {
    errors: [{ pointer, detail }],
    ...(hint !== undefined && { hint }),
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Hosts and shells replace these by values of the user's environment. */
const expanded = /\$(?:\{|\(|[A-Za-z_])/

/**
 * Throws if a stated text cannot be part of a configuration: line breaks and controls break out of commands, and hosts
 * would expand `$NAME` to what the user's environment holds.
 */
export function checkLiteral(text: string, pointer: string): void {
  if (controls.test(text))
    throw refuse(pointer, 'It holds a line break or a control character.', askPublisher)
  if (hidesCharacters(text)) {
    throw refuse(pointer, 'It holds characters that are invisible or that reorder the text.', askPublisher)
  }
  if (expanded.test(text)) {
    throw refuse(
      pointer,
      'It holds a dollar sign and a name, which hosts replace by a variable of yours.',
      askPublisher,
    )
  }
}

export const askPublisher = 'Ask its publisher to correct it, or install it by hand after a look at its page.'
