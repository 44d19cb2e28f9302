import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'
import type { Principal } from '../../../../schemas/scope.ts'
import { input } from '../../../../schemas/shape.ts'
import { isBusy, type StoredPush, type StoredTask, type TaskStore } from '../../../../schemas/task.ts'
import { principalKey } from '../../../common/principal-key.ts'
import { fromTask } from '../v0_3/answer.ts'
import { showTask, statusEvent } from './view.ts'

/** How notifications leave the gateway. */
export interface PushPort {
  /** Throws Failure for an address that must not be called. */
  check(url: string): unknown
  seal(secret: string, binding: string): string
  open(sealed: string, binding: string): string | undefined
  /** True if the credential of the caller who named the address is revoked: it is told nothing more. */
  isRevoked(config: StoredPush): boolean
  /** Posts one notification; `key` signs it. Resolves to what became of it, and throws only the signal's reason. */
  post(notification: {
    readonly id: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly key: string | undefined
    readonly signal: AbortSignal
  }): Promise<'done' | 'failed' | 'gone'>
  /** Waits before attempt number `attempt`, from 1 on. Throws if the signal aborts. */
  wait(attempt: number, signal: AbortSignal): Promise<void>
}

const maxConfigs = 8
const maxAttempts = 6
/** Notifications that wait for their delivery, of all tasks. */
const maxPending = 1_000
const maxPendingOfOwner = 100

const printable = z
  .string()
  .max(4096)
  .regex(/^[\x21-\x7e][\x20-\x7e]*$/, 'Send printable ASCII.')

/** A TaskPushNotificationConfig without its task (section 4.3.1), and the version if that is 0.3. */
export const pushConfig = input(
  z.object({
    id: z.string().min(1).max(128).nullish(),
    url: z.url({ protocol: /^https?$/ }).max(2048),
    token: printable.nullish(),
    authentication: z
      .object({
        scheme: z
          .string()
          .max(64)
          .regex(/^[A-Za-z0-9._-]+$/),
        credentials: printable.nullish(),
      })
      .nullish(),
    version: z.literal('0.3').optional().catch(undefined),
  }),
)
export type PushConfig = ReturnType<typeof pushConfig.parse>

interface ShownConfig {
  readonly taskId: string
  readonly id: string
  readonly url: string
}

/** The secrets of a notification, as they are sealed. */
interface Secrets {
  readonly token?: string
  readonly authorization?: string
}

/** What became of the notifications of one state; `none`: the task has no addresses; `waits`: some were dropped. */
type Posting = 'none' | 'posted' | 'stopped' | 'waits'

interface PushOptions {
  readonly store: TaskStore
  readonly port: PushPort
  readonly onError: (fault: unknown) => void
}

/** Posts the changes of tasks to the addresses that their owners named. Its secrets are never shown again. */
export class PushNotifications implements AsyncDisposable {
  readonly #options: PushOptions
  readonly #closing = new AbortController()
  /** The last notification of each address, after which the next one is sent, and what ends its further tries. */
  readonly #last = new Map<string, { readonly sent: Promise<unknown>; readonly retries: AbortController }>()
  #pending = 0
  readonly #pendingOf = new Map<string, number>()

  constructor(options: PushOptions) {
    this.#options = options
  }

  /** Throws Failure: only callers with a token name addresses, and only public ones. */
  assertAllowed({ url }: PushConfig, caller: Principal | null): void {
    if (!caller) {
      throw new Failure('unauthenticated', 'Push notifications need a bearer token.', {
        hint: 'Without a token, stream the task or poll GetTask.',
      })
    }
    this.#options.port.check(url)
  }

  async create(task: StoredTask, config: PushConfig, caller: Principal | null): Promise<ShownConfig> {
    this.assertAllowed(config, caller)
    const { port, store } = this.#options
    const id = config.id || randomUUID()
    const owner = caller ? principalKey(caller) : ''
    const secrets = secretsOf(config)
    const sealed = secrets && port.seal(JSON.stringify(secrets), bindingOf(task.id, id, owner))
    const stored: StoredPush = {
      id,
      url: config.url,
      owner,
      sealed: sealed ?? null,
      ...(caller?.credential && { credential: caller.credential }),
      ...(config.version && { version: config.version }),
    }
    await store.changePush(task.id, (configs) => {
      const others = configs.filter((other) => other.id !== id && (config.id || other.url !== config.url))
      if (others.length >= maxConfigs) {
        throw new Failure('quota_exceeded', `A task has at most ${maxConfigs} addresses for notifications.`)
      }
      return [...others, stored]
    })
    return show(task.id, stored)
  }

  /** Without an id, as 0.3 allows, the first one. Throws Failure `not_found`. */
  async get(task: StoredTask, id = ''): Promise<object> {
    const configs = await this.#options.store.push(task.id)
    const found = configs.find((config) => id === '' || config.id === id)
    if (found) return show(task.id, found)
    throw new Failure('not_found', `The task has no configuration ${id} for notifications.`)
  }

  async list(task: StoredTask): Promise<object[]> {
    return (await this.#options.store.push(task.id)).map((config) => show(task.id, config))
  }

  /** Deleting what does not exist is no error. */
  async remove(task: StoredTask, id: string): Promise<void> {
    await this.#options.store.changePush(task.id, (configs) => configs.filter((config) => config.id !== id))
  }

  /**
   * Tells of a state: the whole task when its work has ended, else the state; in 0.3 always the task. Resolves when each
   * address, or the one with this id, has taken it, or takes no more tries.
   */
  async notify(task: StoredTask, only?: string): Promise<Posting> {
    const bodyOf = ({ version }: StoredPush) => {
      if (version === '0.3') return JSON.stringify(fromTask(showTask(task)))
      return JSON.stringify(isBusy(task.state) ? statusEvent(task) : { task: showTask(task) })
    }
    const all = await this.#options.store.push(task.id)
    const configs = only === undefined ? all : all.filter(({ id }) => id === only)
    if (configs.length === 0) return 'none'
    const posted = await Promise.all(configs.map((config) => this.#enqueue(task, config, bodyOf(config))))
    if (posted.every(Boolean)) return 'posted'
    return this.#closing.signal.aborted ? 'stopped' : 'waits'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Failure('cancelled', 'The gateway stopped.'))
    await Promise.allSettled([...this.#last.values()].map(({ sent }) => sent))
  }

  /** Resolves to true when the address has taken the notification, or takes no more tries. */
  async #enqueue(task: StoredTask, config: StoredPush, body: string): Promise<boolean> {
    const { onError } = this.#options
    const { owner, url } = config
    const own = this.#pendingOf.get(owner) ?? 0
    if (this.#pending >= maxPending || own >= maxPendingOfOwner) {
      onError(new Error(`Too many notifications of tasks wait; one to ${new URL(url).origin} waits longer.`))
      return false
    }
    const key = `${task.id} ${config.id}`
    this.#pending++
    this.#pendingOf.set(owner, own + 1)
    const before = this.#last.get(key)
    // An address that refuses a state would hear of the next one, perhaps the end, ten minutes late.
    before?.retries.abort()
    const retries = new AbortController()
    const sent = Promise.resolve(before?.sent)
      .then(() => this.#deliver(task, config, body, retries.signal))
      .then(
        () => true,
        (thrown) => {
          if (!this.#closing.signal.aborted) onError(thrown)
          return false
        },
      )
      .finally(() => {
        this.#pending--
        const left = (this.#pendingOf.get(owner) ?? 1) - 1
        if (left > 0) this.#pendingOf.set(owner, left)
        else this.#pendingOf.delete(owner)
        if (this.#last.get(key)?.retries === retries) this.#last.delete(key)
      })
    this.#last.set(key, { sent, retries })
    return await sent
  }

  /**
   * Resolves when the address has taken the notification, or takes no more tries. `followed` aborts when a later state
   * waits: this one is not tried again.
   */
  async #deliver(task: StoredTask, config: StoredPush, body: string, followed: AbortSignal): Promise<void> {
    const { port, store, onError } = this.#options
    const { signal } = this.#closing
    const { id, url, owner, sealed, version } = config
    const opened = sealed === null ? '{}' : port.open(sealed, bindingOf(task.id, id, owner))
    const { origin } = new URL(url)
    if (opened === undefined) {
      return onError(new Error(`The secrets of notifications to ${origin} cannot be opened.`))
    }
    const { token, authorization }: Secrets = JSON.parse(opened)
    const headers = {
      'content-type': version === '0.3' ? 'application/json' : 'application/a2a+json',
      ...(token !== undefined && { 'x-a2a-notification-token': token }),
      ...(authorization !== undefined && { authorization }),
    }
    const notification = { id: notificationId(task, config), url, headers, body, key: token, signal }
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      if (attempt > 1) {
        await port.wait(attempt - 1, AbortSignal.any([signal, followed])).catch(() => {})
        signal.throwIfAborted()
        if (followed.aborted) return
      }
      const configs = await store.push(task.id)
      if (!configs.some((now) => now.id === id && now.sealed === sealed) || port.isRevoked(config)) return
      if ((await port.post(notification)) !== 'failed') return
    }
    onError(
      new Error(
        `A notification of the task ${task.id} was not taken by ${origin} in ${maxAttempts} tries and is dropped.`,
      ),
    )
  }
}

/** The same for every process that posts this state, so that the receiver knows a repetition. */
function notificationId({ id, state, updated_at }: StoredTask, config: StoredPush): string {
  return `msg_${hash('sha256', JSON.stringify([id, config.id, state, updated_at]), 'base64url')}`
}

function secretsOf({ token, authentication }: PushConfig): Secrets | undefined {
  const { scheme, credentials } = authentication ?? {}
  if (!token && !credentials) return undefined
  return { ...(token && { token }), ...(credentials && { authorization: `${scheme} ${credentials}` }) }
}

function bindingOf(taskId: string, id: string, owner: string): string {
  return JSON.stringify(['push', taskId, id, owner])
}

/** A configuration as its owner sees it: without its secrets. */
function show(taskId: string, { id, url }: StoredPush): ShownConfig {
  return { taskId, id, url }
}
