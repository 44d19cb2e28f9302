import type { Mount } from '../http/app.ts'
import { type MetadataOptions, metadataMounts } from './metadata.ts'
import { type RevocationEndpointOptions, revocationEndpoint } from './revoke.ts'
import { type TokenEndpointOptions, tokenEndpoint } from './token.ts'

/** OAuth 2.1 for programs: a token endpoint, revocation, and the metadata that leads there. */
export function oauthMounts(
  options: MetadataOptions & RevocationEndpointOptions & TokenEndpointOptions,
): Mount[] {
  return [tokenEndpoint(options), revocationEndpoint(options), ...metadataMounts(options)]
}
