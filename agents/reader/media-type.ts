import { Failure } from '../../schemas/failure.ts'

/** How a body is read. */
type Kind = 'html' | 'json' | 'csv' | 'feed' | 'pdf' | 'text'

interface MediaType {
  /** The type without parameters, in lower case; '' if the header is absent. */
  readonly essence: string
  readonly charset: string | undefined
}

export function parseMediaType(header: string | undefined): MediaType {
  const essence = (header ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header ?? '')?.[1]
  return { essence: essence.slice(0, 100), charset }
}

const signatures: readonly (readonly [start: string, type: string])[] = [
  ['\x89PNG\r\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF8', 'image/gif'],
  ['RIFF', 'a RIFF container (WebP, WAV or AVI)'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b', 'application/gzip'],
  ['\x7fELF', 'an executable'],
  ['MZ\x90', 'an executable'],
  ['\0asm', 'application/wasm'],
  ['OggS', 'audio/ogg'],
  ['ID3', 'audio/mpeg'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['\0\0\0\x18ftyp', 'video/mp4'],
  ['\0\0\0\x20ftyp', 'video/mp4'],
]

const notText =
  /^(?:image|video|audio|font|model)\/|^application\/(?:octet-stream|zip|gzip|x-.*(?:compressed|tar)|vnd\.|msword|wasm)/
const json = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/
const csv = /^text\/(?:csv|tab-separated-values)$/
const html = /^(?:text\/html|application\/xhtml\+xml)$/

/**
 * Chooses the reader of a body, by its header and its first bytes. Throws Failure `upstream_invalid`, naming the type,
 * if either says that the body is not text.
 */
export function kindOf({ essence }: MediaType, body: Uint8Array): Kind {
  const start = Buffer.from(body.subarray(0, 1024)).toString('latin1')
  if (start.startsWith('%PDF-')) return 'pdf'
  if (essence === 'application/pdf') throw notRead('something labelled as a PDF that is not a PDF')
  const found = signatures.find(([signature]) => start.startsWith(signature))?.[1]
  if (found) throw notRead(found)
  if (notText.test(essence) && !/[+/](?:xml|json)$/.test(essence)) throw notRead(essence)
  if (hasBinary(start)) throw notRead(essence === '' ? 'binary data' : `binary data, labelled ${essence}`)
  if (html.test(essence)) return 'html'
  if (json.test(essence)) return 'json'
  if (csv.test(essence)) return 'csv'
  if (/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<(?:rss|feed|rdf:rdf)[\s>]/i.test(start)) return 'feed'
  const isUnknown = essence === '' || essence === 'unknown/unknown' || essence === '*/*'
  return isUnknown && /^\s*<(?:!doctype html|html|head|body|!--|[a-z]+[\s>])/i.test(start) ? 'html' : 'text'
}

/** Control characters that do not occur in text, unless a byte-order mark announces UTF-16. */
function hasBinary(start: string): boolean {
  if (start.startsWith('\xff\xfe') || start.startsWith('\xfe\xff')) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for (MIME Sniffing, 3)
  return /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(start)
}

function notRead(type: string): Failure {
  return new Failure(
    'upstream_invalid',
    `The URL leads to ${type}; only text is read: HTML, Markdown, JSON, CSV, feeds, PDF and the like.`,
  )
}
