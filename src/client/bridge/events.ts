/** The data of each server-sent event of a body (HTML Standard, section 9.2); comments and names are left out. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  let data: string[] = []
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true })
    // A carriage return at the end may be the first half of a line break.
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
