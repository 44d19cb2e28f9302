import { LRUCache } from 'lru-cache'
import type { Answer } from '../../shared/coding.ts'

const maxBytes = 32 * 1024 * 1024
/** Changes of other processes are seen after this time at the latest, in milliseconds. */
const maxAge = 2000

/** The last answers, while the registry stays in the state in which they were made. */
export class AnswerCache {
  readonly #answers = new LRUCache<string, { readonly state: string; readonly answer: Answer }>({
    maxSize: maxBytes,
    // The compressed forms are smaller.
    sizeCalculation: ({ answer }, question) => 2 * (answer.plain.bytes.length + question.length) + 500,
    ttl: maxAge,
    // With the standard resolution of a millisecond the cache sets a timer for nearly every request.
    ttlResolution: 100,
  })

  recall(question: string, state: string): Answer | undefined {
    const found = this.#answers.get(question)
    return found?.state === state ? found.answer : undefined
  }

  offer(question: string, state: string, answer: Answer): void {
    this.#answers.set(question, { state, answer })
  }
}
