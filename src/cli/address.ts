import { readConfig } from '../app/config.ts'
import { findServer } from '../app/running-server.ts'

/** The address at which callers reach the gateway of this configuration, without a slash at the end. */
export async function gatewayAddress(): Promise<string> {
  const config = readConfig()
  const { DRAGOMAN_URL, DRAGOMAN_BASE_URL, HOST, PORT } = config
  return DRAGOMAN_URL ?? DRAGOMAN_BASE_URL ?? (await findServer(config)) ?? `http://${HOST}:${PORT}`
}

/** The address of an agent for everybody. */
export async function publicAddress(agent: string): Promise<string> {
  return `${await gatewayAddress()}/public/agents/${encodeURIComponent(agent)}`
}
