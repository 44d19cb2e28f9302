const names: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** True if the URL names this machine, so that no other machine is on the way to it. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return names.has(hostname)
}
