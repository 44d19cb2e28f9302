/** The one door to the outside that this agent is given. Throws Failure for network trouble, returns HTTP error statuses as they are. */
export type Fetch = (request: {
  url: string
  method?: 'GET' | 'POST' | 'HEAD'
  headers?: Readonly<Record<string, string>>
  body?: string
  signal: AbortSignal
  max_bytes?: number
  timeout_ms?: number
}) => Promise<{
  status: number
  headers: Readonly<Record<string, string>>
  url: string
  redirects: readonly string[]
  body: Uint8Array
}>

/** Milliseconds since the epoch. */
export type Clock = () => number
