// Bare node:http: parses the body and answers with the same JSON, serialised for each request.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const answer: unknown = JSON.parse(process.env.BENCH_ANSWER ?? '{}')
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString())
    const text = JSON.stringify(answer)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
