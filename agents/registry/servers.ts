import type { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import {
  GetServerInput,
  ListedServer,
  ListServersInput,
  ServerPage,
  ServerVersionsInput,
} from '../../schemas/server.ts'
import { input, output } from '../../schemas/shape.ts'
import { createKeyedSemaphore } from '../../src/common/keyed-semaphore.ts'
import type { ServersPort } from './port.ts'

const reads = { access: 'public', effect: 'read', advertised: false } as const

/** Concurrent searches of one caller; further ones wait. */
const maxConcurrent = 8

export function listServers(servers: ServersPort): Action<ListServersInput, ServerPage> {
  const acquire = createKeyedSemaphore(maxConcurrent)
  return defineAction({
    ...reads,
    name: 'list_servers',
    title: 'List MCP servers',
    description:
      'Lists or searches agents as server.json documents of the MCP registry, a page at a time, as its API answers.',
    input: input(ListServersInput),
    output: output(ServerPage),
    async run(query, { counted_as = '', signal }) {
      using _slot = query.query === undefined ? undefined : await acquire(counted_as, signal)
      return await servers.list(query, signal)
    },
  })
}

export function listServerVersions(
  servers: ServersPort,
): Action<z.output<typeof ServerVersionsInput>, ServerPage> {
  return defineAction({
    ...reads,
    name: 'list_server_versions',
    title: 'List the versions of an MCP server',
    description: 'Every version under a name in the MCP registry, the newest publication first.',
    input: input(ServerVersionsInput),
    output: output(ServerPage),
    run: ({ name, include_deleted }) => servers.versions(name, include_deleted),
  })
}

export function getServer(servers: ServersPort): Action<z.output<typeof GetServerInput>, ListedServer> {
  return defineAction({
    ...reads,
    name: 'get_server',
    title: 'Get a version of an MCP server',
    description:
      'One version under a name in the MCP registry: its server.json, and what registries state of it.',
    input: input(GetServerInput),
    output: output(ListedServer),
    run: ({ name, version, include_deleted }) => servers.get(name, version, include_deleted),
  })
}
