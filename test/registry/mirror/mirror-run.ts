import { orderedText } from '../../../schemas/json.ts'
import type { Mirror } from '../../../schemas/mirror.ts'
import type { Gateway } from '../../../src/app/gateway.ts'
import { localPrincipal } from '../../../src/auth/authenticator.ts'
import { readAll } from '../../conformance/mcp-registry/documents.ts'

/** Sends the registry a message as its operator. */
export async function operate(
  gateway: Gateway,
  action: string,
  params: Readonly<Record<string, unknown>>,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
): Promise<any> {
  const { signal } = new AbortController()
  const envelope = { to: 'svc.registry', action, params: params as never }
  return (await gateway.dispatch(envelope, { principal: localPrincipal, client: 'local', signal })).output
}

/** Runs a mirror to its end. Rejects as the run does. */
export async function runToEnd(gateway: Gateway, name: string): Promise<Mirror> {
  await gateway.mirrors.start(name)
  await gateway.mirrors.ended(name)
  return mirrorNamed(gateway, name)
}

export async function mirrorNamed(gateway: Gateway, name: string): Promise<Mirror> {
  const mirror = (await gateway.mirrors.list()).find((candidate) => candidate.name === name)
  if (!mirror) throw new Error(`There is no mirror ${name}.`)
  return mirror
}

/** What a gateway holds of the versions of a mirror, and what their registry serves, each in one form and order. */
export async function bothSides(
  { store }: Pick<Gateway, 'store'>,
  url: string,
): Promise<{ here: string[]; there: string[] }> {
  const here: string[] = []
  let after: { server_name: string; version: string } | undefined
  for (;;) {
    const rows = await store.servers.list({ after, limit: 500, include_deleted: true })
    for (const { document, meta } of rows.filter(({ mirror }) => mirror !== null)) {
      here.push(orderedText({ server: document, _meta: meta }))
    }
    after = rows.at(-1)
    if (!after) break
  }
  const there = (await readAll(url)).map(({ server, _meta }) =>
    orderedText({ server, _meta: _meta['io.modelcontextprotocol.registry/official'] }),
  )
  return { here: here.sort(), there: there.sort() }
}
