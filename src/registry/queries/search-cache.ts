import { LRUCache } from 'lru-cache'

/** Caches search answers for one state of the store. */
interface SearchCache<Answer extends object> {
  /** Returns the cached answer to a question at this state. */
  recall(question: string, state: string): Answer | undefined
  /** Freezes the answer, and caches it if the question was asked recently; returns it. */
  offer(question: string, state: string, answer: Answer): Answer
}

/**
 * Number of recent questions that are remembered. An answer is cached from the second request for it on, since most
 * questions are asked once.
 */
const recentQuestions = 500

/** `maxSize` is the maximum total size of cached answers, in the unit of `sizeOf`. */
export function createSearchCache<Answer extends object>(
  maxSize: number,
  sizeOf: (answer: Answer) => number,
): SearchCache<Answer> {
  const answers = new LRUCache<string, Answer>({ maxSize, sizeCalculation: sizeOf })
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
