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

/** Reads the data of each server-sent event of a body; comments, event names and ids are skipped. */
export async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  let data: string[] = []
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true })
    // A carriage return at the end of a chunk may be the first half of a line break.
    const lines = pending.split(/\r\n|\n|\r(?!$)/)
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
