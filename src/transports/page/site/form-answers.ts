import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { upTo } from '../../../common/lru.ts'
import type { View } from './view.ts'

type Answer = View | { readonly location: string }

const keptMilliseconds = 600_000
const maxAnswers = 1000

/**
 * The answers of forms that were sent, so that a form that is sent twice is done once. They may hold a secret that is
 * shown once, so they stay in the memory of this process.
 */
export function createFormAnswers() {
  const answers = new LRUCache<string, Promise<Answer>>({ ...upTo(maxAnswers), ttl: keptMilliseconds })

  return {
    /**
     * Does what a form asks for, or answers as to the same form with the same fields before. A form without the field
     * `once` is done each time, and one that was refused may be sent again.
     */
    once(sender: string, form: URLSearchParams, act: () => Promise<Answer>): Promise<Answer> {
      if (!form.has('once')) return act()
      const key = hash('sha256', `${sender} ${form}`)
      form.delete('once')
      const earlier = answers.get(key)
      if (earlier) return earlier
      const answer = act()
      answers.set(key, answer)
      answer.then(
        (view) => {
          if ('status' in view) answers.delete(key)
        },
        () => answers.delete(key),
      )
      return answer
    },
  }
}
