// Bare node:http: parses the body and answers with the same JSON, serialised for each request; without an answer, with
// the status alone.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const { BENCH_ANSWER, BENCH_STATUS = '200' } = process.env
const answer: unknown = BENCH_ANSWER === undefined ? undefined : JSON.parse(BENCH_ANSWER)
const status = Number(BENCH_STATUS)
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString())
    if (answer === undefined) return void response.writeHead(status).end()
    const text = JSON.stringify(answer)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
