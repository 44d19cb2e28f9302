import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import type { Response, RpcError } from '../../../common/mcp/message.ts'
import { refusalIn } from '../../../common/mcp/questions.ts'

/** Sends a message to the client, in the answer of a request. */
type SendMessage = (message: object) => Promise<void>

const noReason: RpcError = { code: -32603, message: 'no reason' }

interface Waiting {
  readonly caller: string
  resolve(result: JsonObject): void
  reject(failure: Failure): void
}

/**
 * The requests of this gateway to clients of legacy protocol versions. A client answers in a request of its own; the id,
 * which nobody else knows, and the caller say which question it answers.
 */
export class ClientQuestions {
  readonly #waiting = new Map<string, Waiting>()

  /** Resolves to the answer, or to `{error}` if the client refuses. Throws Failure `cancelled` with the signal. */
  async ask(
    question: { readonly method: string; readonly params: JsonObject },
    { caller, signal, send }: { caller: string; signal: AbortSignal; send: SendMessage },
  ): Promise<JsonObject> {
    const id = randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const onAbort = () => reject(Failure.cancelled(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // The question may be over while it is still being sent.
    promise.catch(() => {})
    this.#waiting.set(id, { caller, resolve, reject })
    try {
      await send({ jsonrpc: '2.0', id, ...question })
      return await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#waiting.delete(id)
    }
  }

  /** Takes the answer of a client; one that nobody waits for is dropped. */
  answer({ id, result, error }: Response, caller: string): void {
    const waiting = this.#waiting.get(String(id))
    if (waiting?.caller !== caller) return
    waiting.resolve((isRecord(result) ? result : { error: refusalIn({ error }) ?? noReason }) as JsonObject)
  }
}
