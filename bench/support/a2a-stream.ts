// An A2A agent on bare node:http whose stream begins after BENCH_FIRST_MS, as an answer of a model does.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { announce } from './measure.ts'

const first_ms = Number(process.env.BENCH_FIRST_MS ?? 0)
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'GET') return void response.end(JSON.stringify(card))
    const { id } = JSON.parse(Buffer.concat(chunks).toString())
    const write = (result: object) =>
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const ids = { taskId: 't', contextId: 'c' }
    setTimeout(() => {
      write({ task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } })
      write({ artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: 'Hello' }] } } })
      write({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } })
      response.end()
    }, first_ms)
  })
})
const card = {
  name: 'Streaming',
  description: 'Streams.',
  version: '1',
  supportedInterfaces: [{ url: '', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'go', name: 'go', description: 'Goes.', tags: ['go'] }],
}
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const place of card.supportedInterfaces) place.url = `${url}/rpc`
  announce(url)
})
