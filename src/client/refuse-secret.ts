import { Failure } from '../../schemas/failure.ts'
import { secretRefusal } from '../common/url-secrets.ts'

/** The Failure for an address that holds a token or a key. */
export function refuseSecret(): Failure {
  return new Failure('invalid_request', secretRefusal.message, { hint: secretRefusal.hint })
}
