export type Sdk = typeof import('@modelcontextprotocol/client')

let loaded: Promise<Sdk> | undefined

/** Loads the SDK with the first call, which keeps the start of the gateway fast. An import each time costs a tenth of a call. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= import('@modelcontextprotocol/client')
  return loaded
}
