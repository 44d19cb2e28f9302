const [quote, backslash, comma, bracket, brace, lineFeed, carriageReturn] = Buffer.from('"\\,[{\n\r')

/**
 * Counts the values of JSON text (RFC 8259) as it comes, chunk by chunk, nearly: each comma, bracket and brace outside
 * of strings begins one. Of an event stream it counts anew after each blank line, which ends an event.
 */
export function createValueMeter(isEvents: boolean): (chunk: Uint8Array) => number {
  let values = 0
  let isText = false
  let isEscaped = false
  let isBlank = false
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === lineFeed || byte === carriageReturn) {
        // No string of JSON holds one; what looked like a string in a comment of a stream ends there.
        isText = isEscaped = false
        if (isEvents && isBlank && byte === lineFeed) values = 0
      } else if (isEscaped) isEscaped = false
      else if (isText && byte === backslash) isEscaped = true
      else if (byte === quote) isText = !isText
      else if (!isText && (byte === comma || byte === bracket || byte === brace)) values++
      isBlank = byte === lineFeed || (isBlank && byte === carriageReturn)
    }
    return values
  }
}
