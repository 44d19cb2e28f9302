const origins = 200

/** The addresses of `count` agents, at many origins of one site. */
export function cardAddresses(site: string, count: number): { origin: string; path: string }[] {
  const { port } = new URL(site)
  return Array.from({ length: count }, (_, number) => ({
    origin: `http://127.0.0.${1 + (number % origins)}:${port}`,
    path: `/${number}`,
  }))
}
