import { Failure } from '../../../schemas/failure.ts'
import { hasSecret } from '../../common/url-secrets.ts'

/** The refusal of an address that holds a token or a key, in its path or its query. */
export function secretInAddress(url = ''): Failure | undefined {
  return hasSecret(url) ? Failure.secretInAddress() : undefined
}
