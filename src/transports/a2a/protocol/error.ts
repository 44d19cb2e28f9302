import { type A2aReason, a2aCodes, a2aErrors, passedA2aErrors } from '../../../../schemas/a2a-codes.ts'
import { codes, type Failure, problem } from '../../../../schemas/failure.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'

/** An error that A2A itself defines (section 3.3.2) and that no action can cause. */
class A2aRefusal extends Error {
  override readonly name = 'A2aRefusal'
  readonly reason: A2aReason

  constructor(reason: A2aReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** The default message of each reason. */
const refusals: Readonly<Record<A2aReason, string>> = {
  TASK_NOT_FOUND: 'No task has this id. A task is deleted an hour after its last change.',
  TASK_NOT_CANCELABLE: 'The task is over and cannot be cancelled.',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'Push notifications are not supported; stream the task, or poll GetTask.',
  UNSUPPORTED_OPERATION: 'This operation is not supported.',
  CONTENT_TYPE_NOT_SUPPORTED: 'Parts of this type are not supported.',
  VERSION_NOT_SUPPORTED:
    'Send the header A2A-Version: 1.0; without it only the methods of 0.3 are available, over JSON-RPC at /a2a/v1.',
}

export function refusal(reason: A2aReason, message = refusals[reason]): A2aRefusal {
  return new A2aRefusal(reason, message)
}

/** An error in the form of both bindings: `details` are objects with an `@type`, as ProtoJSON writes Any. */
export interface A2aError {
  readonly http: number
  readonly rpc: number
  readonly status: string
  readonly message: string
  readonly details: readonly object[]
  /** The failure behind the error, if there is one. */
  readonly failure?: Failure
}

const a2aDomain = 'a2a-protocol.org'

/** Turns a thrown value into the error that the caller receives; `id` is the request's id. */
export function errorOf(context: Pick<TransportContext, 'onError'>, thrown: unknown, id: string): A2aError {
  if (thrown instanceof A2aRefusal) {
    const { reason, message } = thrown
    return { ...a2aErrors[reason], message, details: [errorInfo(reason, a2aDomain, { requestId: id })] }
  }
  const failure = failureOf(context, thrown)
  const { code, message } = failure
  const { reason, ...row } = ofAgent(failure) ?? a2aCodes[code]
  const metadata = { code, requestId: id }
  const info = reason
    ? errorInfo(reason, a2aDomain, metadata)
    : errorInfo(code.toUpperCase(), 'urn:dragoman:problem', metadata)
  const details = [info, ...violations(failure), problemIn(failure, id)]
  return { http: codes[code].http, ...row, message, details, failure }
}

/** The error by which an agent of A2A refused the message. */
function ofAgent({ details: { upstream } }: Failure) {
  const reason = upstream?.code
  const row = reason !== undefined && Object.hasOwn(passedA2aErrors, reason) && passedA2aErrors[reason]
  return row ? { ...row, reason } : undefined
}

function errorInfo(reason: string, domain: string, metadata: Readonly<Record<string, string>>): object {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, metadata }
}

function violations({ details: { errors = [] } }: Failure): object[] {
  if (errors.length === 0) return []
  const fieldViolations = errors.map(({ pointer, detail }) => ({ field: pointer, description: detail }))
  return [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }]
}

/** The problem details that every transport returns, in the only type of Any that holds free JSON. */
function problemIn(failure: Failure, id: string): object {
  return { '@type': 'type.googleapis.com/google.protobuf.Struct', value: problem(failure, id) }
}
