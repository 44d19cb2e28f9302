/** Width and height of a picture, as its header claims. */
interface Size {
  readonly width: number
  readonly height: number
}

/**
 * The size that a picture claims, by its bytes and not by its name or type; undefined for what is no PNG, JPEG, GIF or
 * unanimated WebP. A decoder allocates memory by this claim, so a picture is measured before it is decoded: of a file
 * that claims several sizes, the largest counts.
 */
export function pictureSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24) return undefined
  if (bytes.readUInt32BE(0) === 0x89504e47 && bytes.readUInt32BE(4) === 0x0d0a1a0a) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  }
  if (/^GIF8[79]a$/.test(text(bytes, 0, 6))) {
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  }
  if (bytes.readUInt16BE(0) === 0xffd8) return largest(jpegFrames(bytes))
  if (text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WEBP') return largest(webpFrames(bytes))
  return undefined
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('latin1', from, to)
}

function largest(frames: readonly Size[]): Size | undefined {
  if (frames.length === 0) return undefined
  return {
    width: Math.max(...frames.map(({ width }) => width)),
    height: Math.max(...frames.map(({ height }) => height)),
  }
}

/** Markers C0 to CF begin a frame, but for three that hold tables (ITU-T T.81, table B.1). */
const tables = new Set([0xc4, 0xc8, 0xcc])
const startOfScan = 0xda

function jpegFrames(bytes: Buffer): Size[] {
  const frames: Size[] = []
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return []
    const marker = bytes[at + 1] ?? 0
    if (marker === startOfScan) return frames
    if (marker === 0xff) {
      at++
      continue
    }
    if ((marker & 0xf0) === 0xc0 && !tables.has(marker)) {
      frames.push({ width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) })
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return []
}

/** The sizes that the chunks of a WebP state (RFC 9649); none for an animation. */
function webpFrames(bytes: Buffer): Size[] {
  const frames: Size[] = []
  for (let at = 12; at + 18 <= bytes.length; ) {
    const name = text(bytes, at, at + 4)
    const body = at + 8
    if (name === 'VP8 ') {
      frames.push({
        width: bytes.readUInt16LE(body + 6) & 0x3fff,
        height: bytes.readUInt16LE(body + 8) & 0x3fff,
      })
    }
    if (name === 'VP8L') {
      const packed = bytes.readUInt32LE(body + 1)
      frames.push({ width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 })
    }
    if (name === 'VP8X') {
      frames.push({ width: bytes.readUIntLE(body + 4, 3) + 1, height: bytes.readUIntLE(body + 7, 3) + 1 })
    }
    if (name === 'ANIM' || name === 'ANMF') return []
    const length = bytes.readUInt32LE(at + 4)
    at = body + length + (length % 2)
  }
  return frames
}
