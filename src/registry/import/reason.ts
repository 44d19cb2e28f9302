import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { issueText } from '../../../schemas/issue-text.ts'

/** Why a line cannot be listed. Throws what is no fault of the line. */
export function reasonOf(fault: unknown): string {
  if (fault instanceof z.ZodError) {
    return fault.issues.map((issue) => `${issue.path.join('.') || 'line'}: ${issueText(issue)}`).join('; ')
  }
  if (fault instanceof Failure) {
    return [
      fault.message,
      ...(fault.details.errors ?? []).map((problem) => `${problem.pointer}: ${problem.detail}`),
    ].join(' ')
  }
  if (fault instanceof SyntaxError) return `Not JSON: ${fault.message}`
  throw fault
}
