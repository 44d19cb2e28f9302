import { describe, expect, test } from 'vitest'
import { readEventData } from '../../src/common/sse.ts'

const text = 'data: one\n\nevent: x\ndata: two\ndata:  lines\ndata\n\n: comment\n\ndata: cut off'

describe.each([
  ['line feeds', '\n'],
  ['carriage returns', '\r'],
  ['both', '\r\n'],
])('events whose lines end with %s', (_, end) => {
  const bytes = Buffer.from(text.replaceAll('\n', end))

  test.each([1, 2, 3, 7, bytes.length])('are read from chunks of %i bytes', async (size) => {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_item, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    const read: string[] = []
    for await (const data of readEventData(ReadableStream.from(chunks))) read.push(data)
    expect(read).toEqual(['one', 'two\n lines\n'])
  })

  test('are read as soon as their last byte is here', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    void writable.getWriter().write(Buffer.from(`data: one${end}${end}`))
    const { value } = await readEventData(readable).next()
    expect(value).toBe('one')
  })
})
