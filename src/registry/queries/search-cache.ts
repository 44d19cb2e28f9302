import { LRUCache } from 'lru-cache'

/** Answers made at one state of the truth, kept while it stands. */
interface SearchCache<Answer extends object> {
  /** The answer to a question asked at this state, where it is kept. */
  recall(question: string, state: string): Answer | undefined
  /** Freezes and keeps the answer where the question has been asked lately; gives it back. */
  offer(question: string, state: string, answer: Answer): Answer
}

/** Questions that count as asked lately: an answer wanted once would cost its memory for nothing. */
const recentQuestions = 500

/** `largest` bounds what is kept, in the unit of `sizeOf`. */
export function createSearchCache<Answer extends object>(
  largest: number,
  sizeOf: (answer: Answer) => number,
): SearchCache<Answer> {
  const answers = new LRUCache<string, Answer>({ maxSize: largest, sizeCalculation: sizeOf })
  const recent = new LRUCache<string, true>({ max: recentQuestions })
  let current: string | undefined

  function turnTo(state: string): void {
    if (state !== current) answers.clear()
    current = state
  }

  return {
    recall(question, state) {
      turnTo(state)
      return answers.get(question)
    },
    offer(question, state, answer) {
      if (state !== current) return answer
      if (recent.has(question)) answers.set(question, Object.freeze(answer))
      else recent.set(question, true)
      return answer
    },
  }
}
