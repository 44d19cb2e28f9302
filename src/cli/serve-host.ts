import type { Readable, Writable } from 'node:stream'
import { version } from '../app/assets.ts'
import type { Gateway } from '../app/gateway.ts'
import type { HostSession } from '../app/host-socket.ts'
import { localPerson } from '../auth/authenticator.ts'
import { principalOf } from '../auth/bearer.ts'
import { createMcpService } from '../transports/mcp/service.ts'
import { serveMcpStdio } from '../transports/mcp/stdio.ts'
import { asTyped } from './invocation.ts'

/** Serves MCP to a program of this user; resolves when the input has ended and its requests are answered. */
export async function serveHost(
  gateway: Gateway,
  { manage, token, typed }: HostSession,
  lines: { readonly input?: Readable; readonly output?: Writable } = {},
): Promise<void> {
  const person = localPerson(manage)
  const identify = () =>
    token === undefined ? person : principalOf(`Bearer ${token}`, gateway.authenticate, '/mcp')
  const onError = gateway.onErrorOf('mcp', 'warn')
  const service = createMcpService(gateway, version, onError)
  const asTypedThere = (text: string) => asTyped(text, typed)
  await serveMcpStdio(service, { identify, manages: manage, asTyped: asTypedThere }, onError, lines)
}
