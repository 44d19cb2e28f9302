/** One server-sent event (HTML Standard, section 9.2). The data is one line. */
export interface ServerSentEvent {
  readonly event?: string
  readonly id?: string
  readonly data: string
}

/** The event as it is written to a stream. */
export function eventText({ event, id, data }: ServerSentEvent): string {
  const eventLine = event === undefined ? '' : `event: ${event}\n`
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${eventLine}${idLine}data: ${data}\n\n`
}

const [lineFeed, carriageReturn] = [10, 13]

/**
 * Makes every line end of a stream, chunk by chunk, a line feed (HTML Standard, section 9.2.5). A carriage return ends
 * its line at once, also as the last byte of a chunk: the next chunk may come only when the event is answered.
 */
export function createLineEnds(): (chunk: Uint8Array) => Uint8Array {
  let isAfterReturn = false
  return (chunk) => {
    if (!isAfterReturn && !chunk.includes(carriageReturn)) return chunk
    const bytes = new Uint8Array(chunk.length)
    let length = 0
    for (const byte of chunk) {
      if (byte !== lineFeed || !isAfterReturn) bytes[length++] = byte === carriageReturn ? lineFeed : byte
      isAfterReturn = byte === carriageReturn
    }
    return bytes.subarray(0, length)
  }
}

/** Reads the data of each server-sent event of a body; comments, event names and ids are skipped. */
export async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lineEnds = createLineEnds()
  let pending = ''
  let data: string[] = []
  for await (const chunk of body) {
    pending += decoder.decode(lineEnds(chunk), { stream: true })
    const lines = pending.split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
      else if (line === 'data') data.push('')
    }
  }
}
