import { jsonText, page, print } from './output.ts'
import { askRegistry } from './send.ts'

/** Prints the card of an agent; with --json, the answer of `resolve_package`. */
export async function resolve(
  agent: string,
  { version }: { version?: string },
  json: boolean,
): Promise<void> {
  const params = { agent, ...(version && { version }) }
  const found = await askRegistry<{ card: unknown }>('resolve_package', params)
  if (json) print(found)
  else await page(jsonText(found.card))
}
