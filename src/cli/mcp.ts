import { once } from 'node:events'
import type { Socket } from 'node:net'
import { readConfig } from '../app/config.ts'
import { connectToHostSocket } from '../app/host-socket.ts'
import { canAsk } from './input.ts'
import { invocationOf } from './invocation.ts'
import { say } from './output.ts'

/**
 * Serves MCP over stdio as the person at this machine, or as the holder of DRAGOMAN_TOKEN, which is checked for each
 * call. `manage` lets the model change what the caller may change. A gateway that runs over the data folder answers, so
 * that its hosts hold no index of their own.
 */
export async function mcp({ manage = false }: { readonly manage?: boolean }): Promise<void> {
  const config = readConfig()
  if (canAsk()) say(forHosts)
  const session = { manage, token: config.DRAGOMAN_TOKEN, typed: invocationOf(process.argv[1] ?? '') }
  const socket = await connectToHostSocket(config, session)
  if (socket) return await relay(socket)
  const { openGateway } = await import('../app/gateway.ts')
  const { serveHost } = await import('./serve-host.ts')
  await using gateway = await openGateway(config)
  await serveHost(gateway, session)
}

/** Said to a person: an MCP host has no terminal. */
const forHosts =
  'An MCP host starts this command, and writes messages of MCP to its standard input. To let one do so: dragoman install --host claude-code. Ctrl+C ends it.'

/** Passes lines on until one side ends. */
async function relay(socket: Socket): Promise<void> {
  let isEnding = false
  process.stdin.on('end', () => {
    isEnding = true
  })
  process.stdout.on('error', () => socket.destroy())
  process.stdin.pipe(socket)
  socket.pipe(process.stdout, { end: false })
  await once(socket, 'close').catch(() => {})
  if (isEnding) return
  say('The gateway that served this host has ended: the host starts it anew.')
  process.exitCode = 1
  process.stdin.destroy()
}
