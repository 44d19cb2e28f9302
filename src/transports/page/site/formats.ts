/** The titles of categories whose slugs leave words out. */
const categoryTitles: Readonly<Record<string, string>> = {
  'search-data-extraction': 'Search and data extraction',
  'finance-fintech': 'Finance and fintech',
  'knowledge-memory': 'Knowledge and memory',
  'support-service-management': 'Support and service management',
  'travel-transportation': 'Travel and transportation',
  'embedded-system': 'Embedded systems',
}

const short = new Set(['a2a', 'mcp', 'ai', 'api', 'iot', 'os', 'rag', 'sql', 'mit', 'npm', 'oci', 'mcpb'])

/** A slug in words: `search-data-extraction` becomes `Search data extraction`. */
export function titleOf(slug: string): string {
  const title = Object.hasOwn(categoryTitles, slug) ? categoryTitles[slug] : undefined
  if (title !== undefined) return title
  const parts = slug.split('-').filter(Boolean)
  const spelled = parts.map((part) => (short.has(part) ? part.toUpperCase() : part)).join(' ')
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

/** A licence in the letters of SPDX, which counts of them lack. */
export function licenseOf(license: string): string {
  const spelled = license.replace(/^(?:mit|isc|bsd|[al]?gpl|mpl|epl|cc0?|bsl)(?=-|$)/, (name) =>
    name.toUpperCase(),
  )
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

/** A size in bytes, in the largest binary unit of which it is one or more. */
export function sizeOf(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const number = bytes / 1024 ** power
  return `${number < 10 ? Number(number.toFixed(1)) : Math.round(number)} ${['bytes', 'KiB', 'MiB', 'GiB'][power]}`
}

/** A count with narrow no-break spaces between thousands. */
export function countOf(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}
