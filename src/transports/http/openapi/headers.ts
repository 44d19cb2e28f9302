const header = (description: string, schema: object, required = false) => ({ description, required, schema })
const text = { type: 'string' }

/** The headers of answers: the members of `#/components/headers`. */
export const headers = {
  'X-Request-Id': header('Names the request in the log.', text, true),
  RateLimit: header('The remaining calls of the limit (draft-ietf-httpapi-ratelimit-headers).', text),
  'RateLimit-Policy': header('The limit that applies.', text),
  ETag: header('Validates this representation (RFC 9110 section 8.8.3).', text, true),
  Deprecation: header('The time since which nobody should begin to use the agent (RFC 9745).', text),
  Link: header('The agent that replaces it, as successor-version.', text),
  Location: header('URL of what was created.', { type: 'string', format: 'uri-reference' }, true),
  'X-Content-Trust': header('untrusted: the answer holds texts of third parties.', text),
  'X-Content-Flags': header('What was found in these texts, such as hidden characters.', text),
  'X-Message-Id': header('The message_id of the envelope.', text),
  'X-Reply-To': header('The reply_to of the envelope.', text),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('The error of the token, or the missing scope (RFC 6750 section 3).', text),
}

export type HeaderName = keyof typeof headers

/** The headers of the answer to a failure, by its status. */
export const headersOf: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['RateLimit', 'RateLimit-Policy', 'Retry-After'],
  502: ['Retry-After'],
  503: ['Retry-After'],
  504: ['Retry-After'],
}

export function headerRefs(...names: readonly HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
