import { isBusy, type StoredTask, type TaskStore } from '../../../../schemas/task.ts'
import type { PushNotifications } from './push.ts'

interface AnnouncementsOptions {
  readonly push: PushNotifications
  readonly store: TaskStore
  /** The time after so many milliseconds, as ISO 8601. */
  readonly at: (after?: number) => string
  /** Milliseconds from the last heartbeat of a task's holder until another process may take the task over. */
  readonly lease: number
  readonly onError: (fault: unknown) => void
}

/**
 * Posts states of tasks to the addresses of the tasks. The end of the work is posted under the lease of the task, so
 * that another process posts it if this one dies before. Disposing ends the push notifications.
 */
export class Announcements implements AsyncDisposable {
  readonly #options: AnnouncementsOptions
  readonly #posts = new Set<Promise<void>>()

  constructor(options: AnnouncementsOptions) {
    this.#options = options
  }

  /** Begins to post the state of a task to its addresses, or to the one with this id. */
  announce(task: StoredTask, only?: string): void {
    const post = this.#post(task, only).catch(this.#options.onError)
    this.#posts.add(post)
    void post.then(() => this.#posts.delete(post))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.push[Symbol.asyncDispose]()
    await Promise.all(this.#posts)
  }

  async #post(task: StoredTask, only?: string): Promise<void> {
    const { push, store, at, lease, onError } = this.#options
    const expected = { holder: task.holder, states: [task.state] }
    const renew = () => void store.save({ ...task, alive_until: at(lease) }, expected).catch(onError)
    const renewal = isBusy(task.state) ? undefined : setInterval(renew, lease / 4).unref()
    const posting = await push.notify(task, only).finally(() => clearInterval(renewal))
    if (isBusy(task.state)) return
    if (posting === 'posted') await store.save({ ...task, alive_until: null }, expected)
    if (posting === 'stopped') await store.save({ ...task, holder: '', alive_until: at() }, expected)
  }
}
