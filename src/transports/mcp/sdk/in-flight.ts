import type { Id } from '../../../common/mcp/message.ts'

/** The requests of one connection that wait for their answer. */
export interface Asked {
  has(id: Id): boolean
  /**
   * Notes a request. Resolves once it is answered, or cancelled: MCP answers no cancelled request; `cancelled` is
   * called first.
   */
  wait(id: Id, cancelled?: () => void): Promise<void>
  answered(id: Id): void
  /** Whether a request of this id waited and was told. */
  cancel(id: Id): boolean
  /** Resolves once nothing waits. */
  idle(): Promise<void>
  /** Nothing will be answered any more. */
  clear(): void
}

interface Waiting {
  readonly done: () => void
  readonly cancelled: (() => void) | undefined
}

export function createAsked(): Asked {
  const waiting = new Map<Id, Waiting>()
  let idle: (() => void) | undefined

  function answered(id: Id): void {
    waiting.get(id)?.done()
    waiting.delete(id)
    if (waiting.size === 0) idle?.()
  }

  function cancel(id: Id): boolean {
    const one = waiting.get(id)
    one?.cancelled?.()
    answered(id)
    return one?.cancelled !== undefined
  }

  return {
    has: (id) => waiting.has(id),
    wait: (id, cancelled) => new Promise((done) => void waiting.set(id, { done, cancelled })),
    answered,
    cancel,
    idle() {
      return new Promise((resolve) => {
        idle = resolve
        if (waiting.size === 0) resolve()
      })
    },
    clear() {
      for (const id of [...waiting.keys()]) cancel(id)
    },
  }
}
