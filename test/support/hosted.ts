import { createAgents } from '../../agents/index.ts'
import { createTools } from '../../src/transports/mcp/views/tools.ts'

/** A placeholder for any part that an agent needs: the names of its actions do not depend on it. */
const absent: never = new Proxy(() => {}, {
  get: (target, property) =>
    property in target || typeof property === 'symbol' ? Reflect.get(target, property) : absent,
  apply: () => absent,
}) as never

type Needs = Parameters<typeof createAgents>[0]

/** Only the wiki agent reads its settings when it is created. */
const wiki = { create_upstream: absent, create_cache: absent, url: 'https://wiki.test', languages: [] }

/** All that agents need, present and future ones. */
const needs = new Proxy({ wiki } as unknown as Needs, {
  get: (target, name: keyof Needs) => target[name] ?? absent,
})

/** The agents that a gateway hosts; they cannot be called. */
const hostedAgents = createAgents(needs)

/** The names of the hosted agents that the registry lists, sorted. */
export const hostedNames = hostedAgents
  .filter((agent) => agent.listed !== false)
  .map((agent) => agent.package_name)
  .toSorted()

/** The names of the MCP tools, in their order. */
export const toolNames = [...createTools(hostedAgents).keys()]

/** The registry revision after the first start over an empty store: each listed agent is one change. */
export const startRevision = hostedNames.length
