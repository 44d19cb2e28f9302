/** Where the gateway is reached, known once it listens. Neither ends with a slash. */
export interface Site {
  readonly base_url: string
  readonly site_url: string
}

/** The card of a package that the registry renders or hosts; the registry's own stands at the site's root. */
export function manifestUrl(site: Site, packageName: string): string {
  if (packageName === registryPackage) return `${site.site_url}/.well-known/agent-card.json`
  return `${site.base_url}/agents/${encodeURIComponent(packageName)}/.well-known/agent-card.json`
}

export const registryPackage = 'svc.registry'
