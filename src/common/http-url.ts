/** The URL by HTTP of an endpoint that may be called over WebSocket: origins and paths are compared in this form. */
export function httpUrl(url: string): URL {
  return new URL(url.replace(/^ws/i, 'http'))
}
