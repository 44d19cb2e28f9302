export type Sdk = typeof import('@modelcontextprotocol/client')

/** Loads the SDK with the first call, which keeps the start of the gateway fast. */
export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client')
}
