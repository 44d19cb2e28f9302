/** A masked frame of a client (RFC 6455 section 5.2); opcode 1 is text, 0 its continuation, 8 a close. */
export function clientFrame(payload: string | Buffer, { opcode = 1, last = true } = {}): Buffer {
  const bytes = Buffer.from(payload)
  const head = Buffer.from([(last ? 0x80 : 0) | opcode, 0x80])
  const mask = Buffer.alloc(4)
  if (bytes.length < 126) {
    head.writeUInt8(0x80 | bytes.length, 1)
    return Buffer.concat([head, mask, bytes])
  }
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(bytes.length))
  head.writeUInt8(0x80 | 127, 1)
  return Buffer.concat([head, length, mask, bytes])
}
