import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { holds, type Principal } from '../../schemas/scope.ts'
import type { PlaygroundCaller } from './port.ts'

export const sessionId = z.string().min(1).max(100).describe('Id of the session.')

/** True for a caller without a token, or a session itself. */
export function isAnonymous(
  caller: PlaygroundCaller,
): caller is null | (Principal & { confined_to: string }) {
  return caller === null || caller.confined_to !== undefined
}

/** Calls without a token pass; a token needs the scope. Throws Failure `forbidden`. */
export function admit(caller: PlaygroundCaller): void {
  if (isAnonymous(caller) || holds(caller, 'playground')) return
  throw new Failure('forbidden', 'The token lacks the scope playground.', { scope: 'playground' })
}
