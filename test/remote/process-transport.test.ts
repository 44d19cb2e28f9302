import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ProcessTransport } from '../../src/remote/mcp/process-transport.ts'

test('messages wait together for a package that does not read', async () => {
  const stdin = new PassThrough({ highWaterMark: 1 })
  const transport = new ProcessTransport({
    stdin,
    stdout: new PassThrough(),
    exited: new Promise(() => {}),
    stderrTail: () => '',
    async [Symbol.asyncDispose]() {},
  })
  const sent = Array.from({ length: 20 }, (_, id) => transport.send({ jsonrpc: '2.0', id, method: 'ping' }))
  // Node warns of more than ten.
  expect(stdin.listenerCount('drain')).toBe(1)
  stdin.resume()
  await Promise.all(sent)
  expect(stdin.listenerCount('drain')).toBe(0)
  const last = transport.send({ jsonrpc: '2.0', id: 20, method: 'ping' })
  stdin.destroy()
  await last
})
