const names: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** True if the URL names this machine, so that no other machine is on the way to it. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return names.has(hostname)
}

/** Names of the local machine: RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  )
}
