/** Text and its original encoding. */
interface Decoded {
  readonly text: string
  /** Name of the encoding in the Encoding Standard, in lower case. */
  readonly charset: string
}

const prescanBytes = 1024

/**
 * Decodes a body as browsers do: byte-order mark, then the header's charset, then (HTML only) what the
 * first 1024 bytes declare, then UTF-8 if it is valid, then windows-1252 (HTML Standard, 13.2.3.2).
 */
export function decode(body: Uint8Array, header: string | undefined, isHtml: boolean): Decoded {
  const label = byteOrderMarkOf(body) ?? supported(header) ?? (isHtml ? declared(body) : undefined)
  if (label !== undefined) return decodeAs(label, body)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(body), charset: 'utf-8' }
  } catch {
    return decodeAs('windows-1252', body)
  }
}

function decodeAs(label: string, body: Uint8Array): Decoded {
  const decoder = new TextDecoder(label)
  return { text: decoder.decode(body), charset: decoder.encoding }
}

function byteOrderMarkOf(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  return body[0] === 0xff && body[1] === 0xfe ? 'utf-16le' : undefined
}

/** The encoding of a label that TextDecoder supports; UTF-7, EBCDIC and unknown labels are undefined. */
function supported(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/** `<meta charset>` or its http-equiv form. A page that declares UTF-16 in ASCII is UTF-8. */
function declared(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.subarray(0, prescanBytes))
    .toString('latin1')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
  const label = /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(start)?.[1]
  const charset = supported(label)
  return charset?.startsWith('utf-16') ? 'utf-8' : charset
}
