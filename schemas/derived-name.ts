/** Lower case, every run outside `[a-z0-9._-]` replaced by one dash, at most one slash, at most 200 characters. */
export function derivedName(name: string): string {
  const [head = '', ...tail] = name.split('/')
  const parts = tail.length > 0 ? [slug(head), slug(tail.join('-'))] : [slug(head)]
  return parts
    .filter(Boolean)
    .join('/')
    .slice(0, 195)
    .replace(/[^a-z0-9]+$/, '')
}

/** Lower case, every run outside `[a-z0-9._-]` replaced by one dash. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
