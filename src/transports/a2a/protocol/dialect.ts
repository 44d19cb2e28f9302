import { Failure } from '../../../../schemas/failure.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import type { StreamEvent } from '../tasks/view.ts'
import { type OperationName, operations } from './operations.ts'

/** The method names, params and results of one version of A2A. */
export interface Dialect {
  /** Throws Failure `unknown_action` and A2aRefusal. */
  operation(method: string): OperationName
  params(operation: OperationName, params: unknown): unknown
  /** The result as JSON text. */
  result(operation: OperationName, json: string): string
  event(event: StreamEvent): object
}

export function isOperation(method: string): method is OperationName {
  return operations.some(({ name }) => name === method)
}

export const dialect10: Dialect = {
  operation(method) {
    if (isOperation(method)) return method
    const close = nearest(method, [...new Set(operations.map(({ name }) => name))])
    throw new Failure('unknown_action', `A2A 1.0 has no method ${method}.`, {
      hint: 'SendMessage sends a message.',
      ...(close.length > 0 && { nearest: close }),
    })
  },
  params: (_, params) => params,
  result: (_, json) => json,
  event: (event) => event,
}
