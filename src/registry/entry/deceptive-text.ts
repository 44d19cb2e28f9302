import { Failure } from '../../../schemas/failure.ts'
import { hiddenIn, mixesScripts } from '../../../schemas/text.ts'

/**
 * Throws Failure `invalid_request` for a document with a text that hides characters, or with a name, at `pointer`, that
 * mixes scripts that look alike.
 */
export function assertHonestText(document: unknown, pointer: string, name: string | null | undefined): void {
  const errors = hiddenIn(document).map((at) => ({ pointer: at, detail: 'hides characters.' }))
  if (name && mixesScripts(name)) errors.push({ pointer, detail: 'mixes scripts that look alike.' })
  if (errors.length > 0)
    throw new Failure('invalid_request', 'The document has text that misleads its readers.', { errors })
}
