import { command, version } from '../app/assets.ts'
import { type Config, isWildcard, readConfig, storeLocation } from '../app/config.ts'
import { openGateway } from '../app/gateway.ts'
import { startServer } from '../app/server.ts'
import { nameOf } from '../store/open-store.ts'
import { databaseAddress } from '../store/postgres/redact-url.ts'
import { createLogger } from '../telemetry/log.ts'
import { startJobs } from './jobs.ts'
import { print, say } from './output.ts'

/** Runs until SIGTERM or SIGINT, then drains. A second signal ends at once. */
export async function serve(json: boolean): Promise<void> {
  const config = readConfig()
  const ending = signalled()
  await using gateway = await openGateway(config, { log: createLogger(config.DRAGOMAN_LOG ?? 'info') })
  await gateway.ready
  await using server = await startServer(gateway)
  await using _jobs = startJobs(gateway)
  const store = nameOf(storeLocation(config))
  if (json) print({ version, url: server.url, data: config.data, store, mcp: snippet(config) })
  else {
    print(`Dragoman ${version} is listening on ${server.url}`)
    print(`Data: ${config.data}`)
    print(`Store: ${store}`)
    print(`MCP client configuration:\n${JSON.stringify(snippet(config), null, 2)}`)
  }
  if (isWildcard(config.HOST) && !config.DRAGOMAN_BASE_URL)
    say('DRAGOMAN_BASE_URL is not set: cards name localhost, which only this machine reaches.')
  if (!config.DRAGOMAN_CONTACT) say('DRAGOMAN_CONTACT is not set: the wiki agent answers not_configured.')
  await ending
}

/**
 * The configuration for an MCP host, without secrets. It names the running Node, since the host's own may be too old.
 */
function snippet({ data, DATABASE_URL: url }: Config): unknown {
  const database = url && { DATABASE_URL: `postgresql://USER:PASSWORD@${databaseAddress(url)}` }
  return {
    mcpServers: {
      dragoman: {
        command: process.execPath,
        args: [command, 'mcp'],
        env: { DRAGOMAN_DATA: data, ...database },
      },
    },
  }
}

/** Resolves at the first signal; a second one ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    const onSignal = () => {
      count += 1
      if (count > 1) process.exit(1)
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
