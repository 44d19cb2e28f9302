import { LRUCache } from 'lru-cache'

/** Search answers of one state of the store. */
interface SearchCache<Answer extends object> {
  /** The cached answer to a question at this state. */
  recall(question: string, state: string): Answer | undefined
  /** Freezes and caches the answer where the question was asked recently; returns it. */
  offer(question: string, state: string, answer: Answer): Answer
}

/**
 * Number of recent questions: an answer is cached from its second request on, since most questions are asked once.
 */
const recentQuestions = 500

/** `largest` is the total size of cached answers, in the unit of `sizeOf`. */
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
