import type { McpId } from '../../common/mcp/message.ts'

interface Pending {
  readonly settle: () => void
  readonly onCancel: (() => void) | undefined
}

/** The requests of one connection that have no answer yet. */
export class PendingRequests {
  readonly #pending = new Map<McpId, Pending>()

  has(id: McpId): boolean {
    return this.#pending.has(id)
  }

  /**
   * Adds a request. Resolves once it is answered, or cancelled, since MCP answers no cancelled request; `onCancel` is
   * called first.
   */
  add(id: McpId, onCancel: () => void): Promise<void> {
    return new Promise((settle) => void this.#pending.set(id, { settle, onCancel }))
  }

  /** Settles a request that goes on: a subscription, once it is acknowledged. */
  settle(id: McpId): void {
    this.#pending.get(id)?.settle()
  }

  answered(id: McpId): void {
    this.#pending.get(id)?.settle()
    this.#pending.delete(id)
  }

  /** True if a request of this id was pending and its `onCancel` has been called. */
  cancel(id: McpId): boolean {
    const onCancel = this.#pending.get(id)?.onCancel
    onCancel?.()
    this.answered(id)
    return onCancel !== undefined
  }

  cancelAll(): void {
    for (const id of [...this.#pending.keys()]) this.cancel(id)
  }
}
