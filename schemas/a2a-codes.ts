import type { Code } from './failure.ts'

/** An A2A 1.0 error: a JSON-RPC number; over HTTP a status with its gRPC name (google.rpc.Code). */
interface A2aRow {
  readonly rpc: number
  readonly status: string
  /** When absent, the failure's own HTTP status. */
  readonly http?: number
  /** When absent, the failure's own code is the reason. */
  readonly reason?: string
}

/** A2A's own errors that this gateway uses (section 5.4), by the `reason` in their ErrorInfo. */
export const a2aErrors = {
  TASK_NOT_FOUND: { http: 404, rpc: -32001, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { http: 400, rpc: -32002, status: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { http: 400, rpc: -32003, status: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { http: 400, rpc: -32004, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { http: 400, rpc: -32005, status: 'INVALID_ARGUMENT' },
  VERSION_NOT_SUPPORTED: { http: 400, rpc: -32009, status: 'FAILED_PRECONDITION' },
} as const satisfies Record<string, A2aRow>

export type A2aReason = keyof typeof a2aErrors

/** Errors of A2A by which an agent refuses a message; a caller of A2A gets them as they are. */
export const passedA2aErrors: Readonly<Record<string, A2aRow>> = {
  TASK_NOT_FOUND: a2aErrors.TASK_NOT_FOUND,
  UNSUPPORTED_OPERATION: a2aErrors.UNSUPPORTED_OPERATION,
  CONTENT_TYPE_NOT_SUPPORTED: a2aErrors.CONTENT_TYPE_NOT_SUPPORTED,
  EXTENSION_SUPPORT_REQUIRED: { http: 400, rpc: -32008, status: 'FAILED_PRECONDITION' },
}

/**
 * Our failures as A2A errors. A2A uses -32001 to -32009 and may use the following numbers, so codes that JSON-RPC
 * itself does not define are 50 below their number in our own JSON-RPC transport.
 */
export const a2aCodes: Readonly<Record<Code, A2aRow>> = {
  invalid_request: { rpc: -32602, status: 'INVALID_ARGUMENT' },
  unauthenticated: { rpc: -32051, status: 'UNAUTHENTICATED' },
  forbidden: { rpc: -32053, status: 'PERMISSION_DENIED' },
  not_found: { rpc: -32054, status: 'NOT_FOUND' },
  unknown_action: { rpc: -32601, status: 'NOT_FOUND' },
  wrong_state: { rpc: -32059, status: 'FAILED_PRECONDITION' },
  conflict: { rpc: -32060, status: 'ALREADY_EXISTS' },
  precondition_failed: { rpc: -32062, status: 'FAILED_PRECONDITION' },
  too_large: { rpc: -32063, status: 'INVALID_ARGUMENT' },
  unsupported_media_type: { ...a2aErrors.CONTENT_TYPE_NOT_SUPPORTED, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  method_not_allowed: { rpc: -32055, status: 'UNIMPLEMENTED' },
  rate_limited: { rpc: -32079, status: 'RESOURCE_EXHAUSTED' },
  quota_exceeded: { rpc: -32095, status: 'RESOURCE_EXHAUSTED' },
  reserved_tag: { rpc: -32080, status: 'PERMISSION_DENIED' },
  hosted_agent: { rpc: -32081, status: 'FAILED_PRECONDITION' },
  suspended: { rpc: -32082, status: 'FAILED_PRECONDITION' },
  not_configured: { rpc: -32083, status: 'UNAVAILABLE' },
  not_callable: { rpc: -32084, status: 'FAILED_PRECONDITION' },
  approval_required: { rpc: -32098, status: 'FAILED_PRECONDITION' },
  blocked_address: { rpc: -32085, status: 'PERMISSION_DENIED' },
  cancelled: { rpc: -32086, status: 'CANCELLED' },
  deadline_exceeded: { rpc: -32087, status: 'DEADLINE_EXCEEDED' },
  upstream_timeout: { rpc: -32088, status: 'DEADLINE_EXCEEDED' },
  upstream_invalid: { rpc: -32089, status: 'UNAVAILABLE' },
  upstream_failed: { rpc: -32090, status: 'UNAVAILABLE' },
  circuit_open: { rpc: -32091, status: 'UNAVAILABLE' },
  loop_detected: { rpc: -32092, status: 'FAILED_PRECONDITION' },
  storage_full: { rpc: -32093, status: 'RESOURCE_EXHAUSTED' },
  unavailable: { rpc: -32094, status: 'UNAVAILABLE' },
  cursor_expired: { rpc: -32096, status: 'OUT_OF_RANGE' },
  not_installable: { rpc: -32097, status: 'FAILED_PRECONDITION' },
  sign_in_required: { rpc: -32099, status: 'UNAUTHENTICATED' },
  internal: { rpc: -32603, status: 'INTERNAL' },
}
