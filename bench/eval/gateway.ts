import { readConfig } from '../../src/app/config.ts'
import { type Gateway, openGateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../../test/support/command.ts'

const batch = 500
const { signal } = new AbortController()

interface Evaluated extends AsyncDisposable {
  readonly gateway: Gateway
}

/** A gateway with an empty registry in a folder of its own; the settings of the environment choose the embedder. */
export async function openEvaluated(): Promise<Evaluated> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const config = readConfig({
    ...process.env,
    PORT: '0',
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_RATE_LIMIT: 'off',
  })
  const gateway = stack.use(await openGateway(config, { log: createLogger('error') }))
  const all = stack.move()
  return { gateway, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Imports lines in batches and waits until words and vectors have all of them; returns the refused lines. */
export async function importAll(
  gateway: Gateway,
  lines: readonly string[],
): Promise<{ line: number; reason: string }[]> {
  const rejected: { line: number; reason: string }[] = []
  for (let at = 0; at < lines.length; at += batch) {
    const params = { lines: lines.slice(at, at + batch), first_line: at + 1 }
    const { output } = await gateway.dispatch(
      { to: 'svc.registry', action: 'import_entries', params },
      { principal: localPrincipal, client: 'local', signal },
    )
    rejected.push(...(output as { rejected: { line: number; reason: string }[] }).rejected)
  }
  const revision = await gateway.store.read.revision()
  while (gateway.vectors.progress().applied_revision < revision || gateway.vectors.progress().next) {
    await gateway.vectors.caughtUp(revision)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return rejected
}
