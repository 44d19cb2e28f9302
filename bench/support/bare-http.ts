// Bare node:http: parses the body and answers with the same JSON, serialised for each request. With fields in
// BENCH_NOT_MODIFIED it answers 304 with these to a request that states their ETag.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const { BENCH_ANSWER = '{}', BENCH_NOT_MODIFIED = '{}' } = process.env
const answer: unknown = JSON.parse(BENCH_ANSWER)
const notModified: Record<string, string> = JSON.parse(BENCH_NOT_MODIFIED)
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString())
    if (notModified.etag !== undefined && request.headers['if-none-match'] === notModified.etag)
      return void response.writeHead(304, notModified).end()
    const text = JSON.stringify(answer)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
