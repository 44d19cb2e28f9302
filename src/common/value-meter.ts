const [quote, backslash, lineFeed, carriageReturn] = Buffer.from('"\\\n\r')

/** Bytes with a meaning; any other byte costs one look-up. */
const isSignificant = new Uint8Array(256)
for (const byte of Buffer.from('"\\,[{\n\r')) isSignificant[byte] = 1

/**
 * Counts the values of JSON text (RFC 8259) chunk by chunk, approximately: each comma, bracket and brace outside of
 * strings begins a value. In an event stream the count starts again after each blank line, which ends an event.
 */
export function createValueMeter(isEvents: boolean): (chunk: Uint8Array) => number {
  let values = 0
  let wasText = false
  let wasEscaped = false
  let wasBlank = false
  return (chunk) => {
    // Local copies are twice as fast as the captured variables.
    let isText = wasText
    let isEscaped = wasEscaped
    let isBlank = wasBlank
    const { length } = chunk
    for (let at = 0; at < length; at++) {
      const byte = chunk[at] ?? 0
      if (isSignificant[byte] === 0) isEscaped = isBlank = false
      else if (byte === lineFeed || byte === carriageReturn) {
        // A JSON string contains no line break; a quote in a comment of an event stream ends here.
        isText = isEscaped = false
        if (isEvents && isBlank && byte === lineFeed) values = 0
        isBlank ||= byte === lineFeed
      } else {
        isBlank = false
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = isText
        else if (byte === quote) isText = !isText
        else if (!isText) values++
      }
    }
    wasText = isText
    wasEscaped = isEscaped
    wasBlank = isBlank
    return values
  }
}
