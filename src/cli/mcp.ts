import { Duplex, PassThrough } from 'node:stream'
import { type Config, readConfig } from '../app/config.ts'
import { connectToHostSocket, type HostSession } from '../app/host-socket.ts'
import { bridge } from '../client/bridge/bridge.ts'
import type { RemoteEvents } from '../client/bridge/frame.ts'
import { StreamRemote } from '../client/bridge/stream.ts'
import { canAsk } from './input.ts'
import { invocationOf } from './invocation.ts'
import { say } from './output.ts'

/**
 * Serves MCP over stdio as the person at this machine, or as the holder of DRAGOMAN_TOKEN, which is checked for each
 * call. `manage` lets the model change what the caller may change. A gateway that runs over the data folder answers, so
 * that its hosts hold no index of their own; when it ends, the session goes on with the next one, or here.
 */
export async function mcp({ manage = false }: { readonly manage?: boolean }): Promise<void> {
  const config = readConfig()
  if (canAsk()) say(forHosts)
  const session = { manage, token: config.DRAGOMAN_TOKEN, typed: invocationOf(process.argv[1] ?? '') }
  const socket = await connectToHostSocket(config, session)
  if (!socket) {
    const { openGateway } = await import('../app/gateway.ts')
    const { serveHost } = await import('./serve-host.ts')
    await using gateway = await openGateway(config)
    return await serveHost(gateway, session)
  }
  const next = async () => (await connectToHostSocket(config, session)) ?? (await serveHere(config, session))
  const connect = (events: RemoteEvents) => new StreamRemote(socket, next, events)
  const whole = await bridge({ input: process.stdin, output: process.stdout, say, connect })
  if (!whole) process.exitCode = 1
}

/** Said to a person: an MCP host has no terminal. */
const forHosts =
  'An MCP host starts this command, and writes messages of MCP to its standard input. To let one do so: dragoman install --host claude-code. Ctrl+C ends it.'

/** A stream to a gateway in this process, which ends with the stream. */
async function serveHere(config: Config, session: HostSession): Promise<Duplex> {
  const { openGateway } = await import('../app/gateway.ts')
  const { serveHost } = await import('./serve-host.ts')
  const gateway = await openGateway(config)
  const [input, output] = [new PassThrough(), new PassThrough()]
  void serveHost(gateway, session, { input, output })
    .finally(() => gateway[Symbol.asyncDispose]())
    .finally(() => output.end())
    .catch(() => {})
  return Duplex.from({ readable: output, writable: input })
}
