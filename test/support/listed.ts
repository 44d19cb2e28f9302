import { expect } from 'vitest'
import type { Capability, Endpoint } from '../../schemas/entry-parts.ts'
import type { Package } from '../../schemas/package.ts'
import type { TestGateway } from './gateway.ts'

interface Listed {
  readonly package_name: string
  readonly name?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly endpoints?: readonly Endpoint[]
  readonly capabilities?: readonly Capability[]
  readonly packages?: readonly Package[]
  readonly manifest_url?: string
}

/** Lists an A2A agent by its card, which the gateway then reads. */
export async function listByCard(gateway: TestGateway, package_name: string, origin: string): Promise<void> {
  await list(gateway, { package_name, manifest_url: `${origin}/.well-known/agent-card.json` })
  await gateway.gateway.verification.checker.run(new AbortController().signal)
}

/** Publishes an agent and takes it live; returns its id. */
export async function list(gateway: TestGateway, agent: Listed, token?: string): Promise<string> {
  const owner = token ?? (await gateway.token('owner'))
  const { package_name } = agent
  const stated = agent.manifest_url ? {} : { name: package_name, description: `The agent ${package_name}.` }
  const published = await gateway.request('POST', '/api/agents/publish', {
    body: { ...stated, ...agent },
    token: owner,
  })
  expect(published.json).toMatchObject({ package_name, state: 'STAGE' })
  const live = await gateway.request('POST', `/api/agents/${published.json.id}/go-live`, { token: owner })
  expect(live.status, live.text).toBe(200)
  return published.json.id
}
