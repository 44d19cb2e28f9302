import { openClient } from './client.ts'
import { print } from './output.ts'

/** Prints the card of an agent; with --json, the answer of `resolve_package`. */
export async function resolve(
  agent: string,
  { version }: { version?: string },
  json: boolean,
): Promise<void> {
  await using client = await openClient()
  const params = { agent, ...(version && { version }) }
  const found = await client.send({ to: 'svc.registry', action: 'resolve_package', params })
  print(json ? found : (found as { card: unknown }).card)
}
