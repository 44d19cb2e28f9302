// Bare node:http reverse proxy: passes each request on to BENCH_UPSTREAM over kept-alive connections, and
// pipes the body.
import { Agent, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const { hostname, port } = new URL(process.env.BENCH_UPSTREAM ?? '')
const agent = new Agent({ keepAlive: true })
const server = createServer((request, response) => {
  const { method = 'GET', url = '/', headers } = request
  const upstream = send({ agent, hostname, port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  request.pipe(upstream)
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
