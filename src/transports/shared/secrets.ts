import { Failure } from '../../../schemas/failure.ts'
import { hasSecret, secretRefusal } from '../../common/url-secrets.ts'

/** The refusal of an address that holds a token or a key, in its path or its query. */
export function secretInAddress(url = ''): Failure | undefined {
  if (!hasSecret(url)) return undefined
  return new Failure('invalid_request', secretRefusal.message, { hint: secretRefusal.hint })
}
