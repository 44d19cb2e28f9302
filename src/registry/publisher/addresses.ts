import type { StoredEntry } from '../../store/stored-entry.ts'

type Stated = Pick<StoredEntry, 'source_url' | 'card' | 'server'>

/** Where a README is read, and what its relative links are relative to. */
interface ReadmeAddress {
  readonly url: string
  readonly base_url: string
}

/**
 * The README of an agent: that of its repository at GitHub or GitLab, or a Markdown file that its documents name; null
 * if they name neither.
 */
export function readmeOf({ source_url, card, server }: Stated): ReadmeAddress | null {
  const stated = [source_url, server?.websiteUrl, card?.documentationUrl]
  const found = stated.map((address) => readmeAt(webAddress(address)))
  return found.find((address) => address !== null) ?? null
}

function readmeAt(url: URL | null): ReadmeAddress | null {
  if (!url) return null
  if (/\.(?:md|markdown)$/i.test(url.pathname) && !/\/blob\//.test(url.pathname)) {
    return { url: url.href, base_url: url.href }
  }
  const path = url.pathname.replace(/\/+$/, '')
  if (url.hostname === 'github.com') return atGithub(path)
  if (url.hostname === 'gitlab.com') return atGitlab(path)
  return null
}

function atGithub(path: string): ReadmeAddress | null {
  const [, repository, kind, ref = 'HEAD', below = ''] =
    /^\/([^/]+\/[^/]+?)(?:\.git)?(?:\/(tree|blob)\/([^/]+)(\/.+)?)?$/.exec(path) ?? []
  if (repository === undefined) return null
  const file = kind === 'blob' ? below : `${below}/README.md`
  const base_url = `https://github.com/${repository}/blob/${ref}${file}`
  return { url: `https://raw.githubusercontent.com/${repository}/${ref}${file}`, base_url }
}

function atGitlab(path: string): ReadmeAddress | null {
  const [, project, kind, ref = 'HEAD', below = ''] =
    /^\/([^/]+(?:\/[^/-][^/]*)+?)(?:\.git)?(?:\/(?:-\/)?(tree|blob)\/([^/]+)(\/.+)?)?$/.exec(path) ?? []
  if (project === undefined) return null
  const file = kind === 'blob' ? below : `${below}/README.md`
  const base_url = `https://gitlab.com/${project}/-/blob/${ref}${file}`
  return { url: `https://gitlab.com/${project}/-/raw/${ref}${file}`, base_url }
}

/** The address of the icon that an agent's documents state; null without one that is a picture of pixels. */
export function iconOf({ card, server }: Stated): string | null {
  const stated = [...iconsIn(server?.icons), ...iconsIn(card?.icons), { src: card?.iconUrl }]
  const light = stated.filter(({ theme }) => theme !== 'dark')
  const found = [...light, ...stated].map(({ src, mimeType }) => {
    const url = webAddress(src)
    return url && !/\.svgz?$/i.test(url.pathname) && !/svg/i.test(String(mimeType ?? '')) ? url.href : null
  })
  return found.find((address) => address !== null) ?? null
}

interface StatedIcon {
  readonly src?: unknown
  readonly mimeType?: unknown
  readonly theme?: unknown
}

function iconsIn(icons: unknown): StatedIcon[] {
  if (!Array.isArray(icons)) return []
  return icons.slice(0, 10).filter((icon) => typeof icon === 'object' && icon !== null)
}

const maxLength = 2048

function webAddress(address: unknown): URL | null {
  if (typeof address !== 'string' || address.length > maxLength) return null
  const url = URL.parse(address)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}
