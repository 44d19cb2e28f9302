import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { Failure } from '../../../schemas/failure.ts'

interface ListenOptions {
  readonly host: string
  /** Zero takes a free port. */
  readonly port: number
  /** The settings to change if listening fails. */
  readonly hint: string
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'the system does not allow it to this user, as often below port 1024',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the name has no address',
}

/** Starts to listen and resolves to the port. Throws Failure `unavailable`, for example if the port is in use. */
export async function listen(server: Server, { host, port, hint }: ListenOptions): Promise<number> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (fault) {
    const { code = '', message } = fault as NodeJS.ErrnoException
    const why = reasons[code] ?? message
    throw new Failure('unavailable', `Cannot listen on ${host}:${port}: ${why}.`, { hint }, fault)
  }
  return (server.address() as AddressInfo).port
}
