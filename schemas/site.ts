import { registryName } from './names.ts'

/** The gateway's addresses, known once it listens. No address ends with a slash. */
export interface Site {
  readonly base_url: string
  readonly site_url: string
}

/** URL of the card of a rendered or hosted agent; the registry's own card is at the site's root. */
export function manifestUrl(site: Site, packageName: string): string {
  if (packageName === registryName) return `${site.site_url}/.well-known/agent-card.json`
  return `${site.base_url}/agents/${encodeURIComponent(packageName)}/.well-known/agent-card.json`
}
