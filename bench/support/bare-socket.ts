// Bare ws: parses each frame and answers with the same JSON under the id of the request.
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { announce } from './measure.ts'

const answer: unknown = JSON.parse(process.env.BENCH_ANSWER ?? '{}')
const server: WebSocketServer = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('listening', () => announce(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`))
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const { id } = JSON.parse(data.toString())
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: answer }))
  })
})
