// Serves the cards of many agents at every loopback address. No card ever changes. Connections close after
// each answer, since they would not stay open for the hour between two probes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const etag = '"1"'
const card = JSON.stringify({ name: 'Agent', description: 'Does something.', version: '1.0.0', skills: [] })
const unknown = JSON.stringify({ code: 'unknown_action', detail: 'There is no such action.' })
const server = createServer((request, response) => {
  response.setHeader('Connection', 'close')
  request.resume()
  if (request.method === 'POST') response.writeHead(404, { 'Content-Type': 'application/json' }).end(unknown)
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, { ETag: etag }).end()
  else response.writeHead(200, { 'Content-Type': 'application/json', ETag: etag }).end(card)
})
server.listen(0, '0.0.0.0', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
