import type { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import {
  ChangedServers,
  DomainLogin,
  GetServerInput,
  ListedServer,
  ListServersInput,
  RegistryToken,
  ServerInput,
  ServerPage,
  ServerStatusInput,
  ServerValidation,
  ServerVersionsInput,
} from '../../schemas/server.ts'
import { input, output } from '../../schemas/shape.ts'
import { createKeyedSemaphore } from '../../src/common/semaphore.ts'
import { requirePrincipal } from './caller.ts'
import type { DomainLogins, ServersPort } from './port.ts'

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

export function validateServer(servers: ServersPort): Action<ServerInput, ServerValidation> {
  return defineAction({
    ...reads,
    name: 'validate_server',
    title: 'Validate a server.json',
    description: 'Every problem of a server.json document, for who would publish it. Nothing is stored.',
    input: input(ServerInput),
    output: output(ServerValidation),
    run: async ({ server }) => servers.validate(server),
  })
}

const writes = { access: { scope: 'agents:publish' }, effect: 'write', advertised: false } as const

export function publishServer(servers: ServersPort): Action<ServerInput, ListedServer> {
  return defineAction({
    ...writes,
    name: 'publish_server',
    title: 'Publish an MCP server',
    description:
      'Publishes a version of an agent by its server.json, as the API of the MCP registry does. It is live at once. Versions are immutable.',
    input: input(ServerInput),
    output: output(ListedServer),
    run: ({ server }, { principal }) => servers.publish(server, requirePrincipal(principal)),
  })
}

export function setServerStatus(servers: ServersPort): Action<ServerStatusInput, ChangedServers> {
  return defineAction({
    ...writes,
    name: 'set_server_status',
    title: 'Set the status of an MCP server',
    description: 'Makes a version, or all versions of a name, active, deprecated or deleted.',
    input: input(ServerStatusInput),
    output: output(ChangedServers),
    run: (change, { principal }) => servers.setStatus(change, requirePrincipal(principal)),
  })
}

export function logInByDomain(logins: DomainLogins): Action<DomainLogin, RegistryToken> {
  return defineAction({
    name: 'log_in_by_domain',
    title: 'Log in by a domain',
    description:
      'A token of five minutes for the namespace of a domain, for who signs the present time with the key in the MCP record of the domain.',
    input: input(DomainLogin),
    output: output(RegistryToken),
    access: 'public',
    effect: 'write',
    secret: true,
    advertised: false,
    deadline_ms: 20_000,
    run: (login, { signal }) => logins.logIn(login, signal),
  })
}
