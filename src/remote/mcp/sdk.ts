export type Sdk = typeof import('@modelcontextprotocol/client')

/** The maximum of a timer: only its signal ends a request of the SDK. */
export const maxTimeout_ms = 2 ** 31 - 1

let loaded: Promise<Sdk> | undefined

/** Loads the SDK with the first call, which keeps the start of the gateway fast. An import each time costs a tenth of a call. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= import('@modelcontextprotocol/client')
  return loaded
}
