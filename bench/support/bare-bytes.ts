// Bare node:http: sends the same bytes for each request.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const bytes = Buffer.from(process.env.BENCH_ANSWER ?? '')
const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  response.end(bytes)
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
