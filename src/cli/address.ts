import { type Config, readConfig } from '../app/config.ts'
import { findServer } from '../app/running-server.ts'

/** The address at which callers reach the gateway of this configuration, without a slash at the end. */
export async function gatewayAddress(config: Config = readConfig()): Promise<string> {
  const { DRAGOMAN_URL, DRAGOMAN_BASE_URL, HOST, PORT } = config
  return DRAGOMAN_URL ?? DRAGOMAN_BASE_URL ?? (await findServer(config)) ?? `http://${HOST}:${PORT}`
}

/** The address of the page of an agent. */
export async function publicAddress(agent: string): Promise<string> {
  return `${await gatewayAddress()}/agent/${encodeURIComponent(agent)}`
}
