export type Sdk = typeof import('@modelcontextprotocol/client')

/** The SDK, loaded with the first call: a start does not pay for it. */
export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client')
}
