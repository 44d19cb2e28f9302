// A gateway that reports its resources to its parent process. Its heartbeat is short, so that silent sockets are found soon.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { mcpMounts } from '../../src/transports/mcp/http.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { mcpSocket } from '../../src/transports/mcp/socket.ts'
import { serveMcpStdio } from '../../src/transports/mcp/stdio.ts'
import { Upgrades } from '../../src/transports/websocket/upgrade.ts'

const [mode] = process.argv.slice(2)
const data = mkdtempSync(join(tmpdir(), 'dragoman-soak-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
process.on('disconnect', () => process.exit())
const gateway = await openGateway(
  readConfig({ DRAGOMAN_DATA: data, DRAGOMAN_RATE_LIMIT: 'off', DRAGOMAN_LOG: 'silent' }),
)
const onError = () => {}
const service = createMcpService(gateway, '1', onError)

/** Collects garbage, and counts the remaining resources and sockets. */
process.on('message', async () => {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await pause(10)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const count = (name: string) => resources.filter((resource) => resource === name).length
  process.send?.({
    heap: heapUsed + external,
    rss,
    sockets: count('TCPSocketWrap'),
    timers: count('Timeout') + count('Immediate'),
    handles: resources.length,
  })
})

if (mode === 'stdio') {
  process.send?.({ port: 0 })
  await serveMcpStdio(service, { identify: () => null }, onError)
} else {
  // What it keeps of every connection, to see that the test would find a leak.
  const leak: unknown[] = []
  const context = mcpSocket(service, onError)
  const upgrades = new Upgrades({
    context: gateway,
    allowsOrigin: () => true,
    // A caller who is busy for a beat would be ended; those of the calls are.
    beat_ms: mode === 'calls' ? 30_000 : 400,
    max_per_address: 40,
    sockets: [
      {
        ...context,
        open(connection) {
          if (mode === 'leak') leak.push({ connection, memory: new Array(250).fill(connection) })
          context.open(connection)
        },
      },
    ],
  })
  const [, post] = mcpMounts({
    context: gateway,
    path: '/mcp',
    serviceOf: () => service,
    allowsOrigin: () => true,
  })
  const server = createServer((request, response) => void post?.handler(request as never, response))
  server.on('upgrade', (request, socket, head) => void upgrades.accept(request, socket, head))
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
}
