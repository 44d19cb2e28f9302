import { once } from 'node:events'
import { Failure } from '../../schemas/failure.ts'
import { command, version } from '../app/assets.ts'
import { type Config, isWildcard, locationOf, readConfig, storeLocation } from '../app/config.ts'
import { writeFirstConfig } from '../app/config-file.ts'
import { type Gateway, openGateway } from '../app/gateway.ts'
import { listenForHosts } from '../app/host-socket.ts'
import { startJobs } from '../app/jobs.ts'
import { announceServer, runningServer } from '../app/running-server.ts'
import { drainOf, endCallsLate, startServer } from '../app/server.ts'
import { mirrorOf } from '../app/settings.ts'
import { earlierDataFolder } from '../app/user-folders.ts'
import { nameOf } from '../store/open-store.ts'
import { createLogger } from '../telemetry/log.ts'
import { print, say } from './output.ts'
import { serveHost } from './serve-host.ts'

/** Runs until SIGTERM or SIGINT, then drains. A second signal ends at once. */
export async function serve(json: boolean): Promise<void> {
  const config = readConfig()
  const ending = signalled()
  const ended = once(ending, 'abort')
  const running = await runningServer(config)
  if (running !== undefined) say(`A gateway already runs over this data folder, at ${running.url}.`)
  const log = createLogger(config.DRAGOMAN_LOG ?? 'info')
  await using gateway = await openGateway(config, { log, signal: ending })
  const stop_ms = drainOf(config) + stopMilliseconds
  void ended.then(() => setTimeout(() => gateway.store.abandon?.(), stop_ms).unref())
  // The port opens first: reads by name need no index, searches by words find what is indexed, and /readyz answers 503.
  await using server = await startServer(gateway)
  const late = setTimeout(() => say(stillReading(server.url)), quiet_ms)
  await Promise.race([gateway.ready, ended])
  clearTimeout(late)
  if (ending.aborted) return
  const onAnnounceError = gateway.onErrorOf('announcement', 'warn')
  await using announced = await announceServer(config, server.url, server.secret, onAnnounceError)
  await using hosts = await listenForHosts(
    config,
    (session, lines) => serveHost(gateway, session, lines),
    gateway.onErrorOf('host', 'warn'),
  )
  const stop = new AbortController()
  const adding = addConfiguredMirrors(gateway, stop.signal)
  await using jobs = startJobs(gateway)
  const store = nameOf(storeLocation(config))
  const isEarlier = config.DRAGOMAN_DATA === undefined && config.data === earlierDataFolder()
  const isFirst = !isEarlier && (await writeFirstConfig(config.config_path, config.shared))
  const isPublic = isWildcard(config.HOST) || config.DRAGOMAN_BASE_URL !== undefined
  const { base_url } = gateway.site()
  const mcp = isPublic ? remoteServer(base_url) : localServer(config)
  if (json) print({ version, url: server.url, data: config.data, store, mcp })
  else {
    print(`Dragoman ${version} is listening on ${server.url}`)
    print(`Data: ${config.data}`)
    print(`Settings: ${config.config_path}${isFirst ? ', written now' : ''}`)
    print(`Store: ${store}`)
    print(`MCP client configuration:\n${JSON.stringify(mcp, null, 2)}`)
    say(
      isPublic
        ? `Hosts on other machines need only the address. In Claude Code: claude mcp add --transport http dragoman ${base_url}/mcp`
        : 'To write it into the file of a host, such as Claude Code: dragoman install --host claude-code',
    )
  }
  if (isEarlier) {
    say(
      `The registry in ./data is used because it is here, without a file of settings. DRAGOMAN_DATA=./data names it; elsewhere the data folder is ${config.usual_data}.`,
    )
  }
  if (!isFirst && config.only_here.length > 0) {
    const names = config.only_here.join(', ')
    say(
      `Set in the environment of this process, and not so in ${config.config_path}: ${names}. Other commands and MCP hosts read the file: change it there too.`,
    )
  }
  if (isWildcard(config.HOST) && !config.DRAGOMAN_BASE_URL)
    say('DRAGOMAN_BASE_URL is not set: cards name localhost, which only this machine reaches.')
  const idle = config.DRAGOMAN_EMBEDDER === 'static' ? modelSettings.filter((name) => config[name]) : []
  if (idle.length > 0)
    say(`Without effect while DRAGOMAN_EMBEDDER is static, the model that is built in: ${idle.join(', ')}.`)
  if (new URL(base_url).pathname !== '/')
    say(
      'DRAGOMAN_BASE_URL has a path. The protocols work there, behind a proxy that removes the path from requests; the page and its sign-in need a host of their own.',
    )
  if (!config.DRAGOMAN_CONTACT) {
    say(
      `DRAGOMAN_CONTACT is not set: the wiki agent answers not_configured. To set it, add "DRAGOMAN_CONTACT": "you@example.com" to ${config.config_path}, and start again.`,
    )
  }
  // A hint is worth neither an end nor a wait while the database is away.
  const lacksAgents = isEmpty(gateway).catch(() => false)
  if (await Promise.race([lacksAgents, ended.then(() => false)])) {
    say(
      'Only the agents of this gateway are listed. To list those of the official MCP registry: dragoman mirror add official',
    )
  }
  await ended
  stop.abort()
  using _late = endCallsLate(gateway)
  // At once: while one of them waits for its last calls, no other one may begin new work.
  await Promise.all([jobs, hosts, announced, server].map((part) => part[Symbol.asyncDispose]()))
  await adding
}

/** The settings of models that are not built in. */
const modelSettings = [
  'DRAGOMAN_MODEL',
  'DRAGOMAN_EMBEDDINGS_URL',
  'DRAGOMAN_EMBEDDINGS_KEY',
  'DRAGOMAN_EMBEDDINGS_DIMENSIONS',
] as const

/** Milliseconds that a stop waits for the database once it takes no more requests: calls that wait for it alone are still answered after that. */
const stopMilliseconds = 10_500
/** Milliseconds after which a start says what it waits for. */
const quiet_ms = 1000

function stillReading(url: string): string {
  return `${url} answers reads by name and calls. The index is being read or built: until then searches wait, or say what they lack.`
}

/** Adds the mirrors of the configuration that do not exist yet. */
async function addConfiguredMirrors(
  { mirrors, config, onErrorOf }: Gateway,
  signal: AbortSignal,
): Promise<void> {
  for (const input of config.DRAGOMAN_MIRRORS.flatMap((text) => mirrorOf(text) ?? [])) {
    await mirrors.ensure(input, signal).catch((fault) => {
      if (!signal.aborted) onErrorOf('mirror', 'warn')(fault)
    })
  }
}

/** True if nothing is listed but the agents that this gateway hosts, and nothing is mirrored. */
async function isEmpty({ store, agents, mirrors }: Gateway): Promise<boolean> {
  if ((await mirrors.list()).length > 0) return false
  return (await store.read.listedNames('', agents.length + 1)).length <= agents.length
}

/**
 * The configuration for an MCP host on this machine, without secrets: the settings are in the file. It names the running
 * Node, since the host's own may be too old.
 */
function localServer(config: Config) {
  return hostConfiguration({ command: process.execPath, args: [command, 'mcp'], env: locationOf(config) })
}

/** The configuration for an MCP host anywhere: from a container or another user's folder it could start nothing. */
function remoteServer(base_url: string) {
  return hostConfiguration({ type: 'http', url: `${base_url}/mcp` })
}

function hostConfiguration(dragoman: object) {
  return { mcpServers: { dragoman } }
}

/** Aborts at the first signal; a second one ends the process at once. */
function signalled(): AbortSignal {
  const ending = new AbortController()
  const onSignal = () => {
    if (ending.signal.aborted) process.exit(1)
    ending.abort(new Failure('cancelled', 'A signal ended the gateway.'))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return ending.signal
}
