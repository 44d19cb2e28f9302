/** Maximum length of a line, in bytes. */
const maxLineBytes = 10 * 1024 * 1024

/**
 * Splits a stream of bytes into lines of UTF-8. A line longer than 10 MiB is `undefined`; empty lines are left
 * out.
 */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<(string | undefined)[]> {
  let pending: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    const lines: (string | undefined)[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const tail = chunk.subarray(start, end)
      lines.push(length + tail.length > maxLineBytes ? undefined : textOf(pending, tail))
      pending = []
      length = 0
      start = end + 1
    }
    const rest = chunk.subarray(start)
    length += rest.length
    if (length > maxLineBytes) pending = []
    else if (rest.length > 0) pending.push(rest)
    yield lines.filter((line) => line !== '')
  }
}

function textOf(pending: readonly Buffer[], tail: Buffer): string {
  const bytes = pending.length === 0 ? tail : Buffer.concat([...pending, tail])
  return bytes.toString('utf8').replace(/\r$/, '')
}
