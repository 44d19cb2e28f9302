import { Failure } from '../../../schemas/failure.ts'

/** Members of one batch being answered at once. */
const maxConcurrent = 4
/** Answers of one batch in sum, in characters; one that is begun may still go beyond. */
export const maxAnswersLength = 4 * 1024 * 1024

/** Answers one member; where `refusal` is given, with that failure instead of its result. */
export type AnswerMember = (frame: unknown, refusal: Failure | undefined) => Promise<string | undefined>

/** The answers to the members of a batch, in their order, notifications left out. */
export async function answerMembers(frames: readonly unknown[], answer: AnswerMember): Promise<string[]> {
  const answers: (string | undefined)[] = []
  let begun = 0
  let length = 0

  async function work(): Promise<void> {
    while (begun < frames.length) {
      const index = begun++
      const refusal = length > maxAnswersLength ? tooLarge() : undefined
      answers[index] = await answer(frames[index], refusal)
      length += answers[index]?.length ?? 0
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  return answers.filter((text) => text !== undefined)
}

function tooLarge(): Failure {
  return new Failure(
    'too_large',
    `The answers before this one are longer than ${maxAnswersLength} characters.`,
    {
      hint: 'Ask for this in another batch.',
    },
  )
}
