import { execFile } from 'node:child_process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { Failure } from '../../schemas/failure.ts'
import { parseJson } from '../../src/common/json.ts'
import type { PackageProcess, PackageSource, Runner } from '../../src/runner/runner.ts'

const execute = promisify(execFile)

export interface Trial {
  readonly type: 'npm' | 'pypi'
  readonly name: string
  readonly version: string
  readonly args?: readonly string[]
  /** A tool and its arguments. */
  readonly call?: readonly [string, Readonly<Record<string, unknown>>]
}

interface TrialResult {
  readonly tools: readonly string[]
  /** Names of the phases and what each took. */
  readonly ms: Readonly<Record<'install' | 'initialize', number>>
  readonly answer?: { readonly isError?: boolean; readonly content?: unknown }
}

/** The registries that this machine's npm and pip use. */
export async function configuredRegistries(): Promise<{ npm: string; pypi: string }> {
  const ask = async (file: string, args: readonly string[]) =>
    (await execute(file, args).catch(() => ({ stdout: '' }))).stdout.trim().split('\n').at(-1) ?? ''
  const [npm, pypi] = await Promise.all([
    ask('npm', ['config', 'get', 'registry', '--loglevel=silent']),
    ask('python3', ['-m', 'pip', 'config', 'get', 'global.index-url']),
  ])
  return {
    npm: URL.canParse(npm) ? npm : 'https://registry.npmjs.org',
    pypi: URL.canParse(pypi) ? pypi : 'https://pypi.org/simple',
  }
}

/** Which registry cannot be reached, or ''. */
export async function unreachable({ npm, pypi }: { npm: string; pypi: string }): Promise<string> {
  for (const url of [`${npm.replace(/\/+$/, '')}/is-number`, `${pypi.replace(/\/+$/, '')}/six/`]) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
    await answer?.body?.cancel()
    if (!answer?.ok) return new URL(url).host
  }
  return ''
}

/** Resolves, installs and starts a server, reads its tools and calls one. Throws what stopped it. */
export async function tryPackage(runner: Runner, trial: Trial, signal: AbortSignal): Promise<TrialResult> {
  const started = performance.now()
  const source: PackageSource = { registry_type: trial.type, identifier: trial.name, version: trial.version }
  const resolved = await runner.resolve(source, signal)
  const { lock } = await runner.install(resolved, { scripts: false }, signal)
  const installed = performance.now()
  const home = trial.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60)
  const request = { resolved, lock, scripts: false, home, args: trial.args ?? [], env: {}, hosts: [] }
  await using child = await runner.start(request, signal)
  const ask = session(child, signal)
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'dragoman-test', version: '1.0.0' },
  })
  const initialized = performance.now()
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  const { tools } = (await ask('tools/list', {})) as { tools: { name: string }[] }
  const [tool, args] = trial.call ?? []
  const answer = tool === undefined ? undefined : await ask('tools/call', { name: tool, arguments: args })
  return {
    tools: tools.map(({ name }) => name),
    ms: { install: Math.round(installed - started), initialize: Math.round(initialized - installed) },
    ...(answer !== undefined && { answer: answer as NonNullable<TrialResult['answer']> }),
  }
}

/** MCP over standard streams in its simplest form: one request at a time. */
function session(child: PackageProcess, signal: AbortSignal) {
  const lines = createInterface({ input: child.stdout, signal })[Symbol.asyncIterator]()
  let id = 0
  return async (method: string, params: unknown): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const message = parseJson(line.value) as Message | undefined
      if (message?.id !== id || message.method !== undefined) continue
      if (message.error)
        throw new Failure('upstream_failed', `${method}: ${JSON.stringify(message.error).slice(0, 500)}`)
      return message.result
    }
    if (signal.aborted)
      throw new Failure('upstream_timeout', `${method} was not answered. ${child.stderrTail().slice(-500)}`)
    const exit = await child.exited
    throw new Failure(
      'upstream_failed',
      `It ended (${exit.code ?? exit.signal}, ${exit.reason}): ${child.stderrTail().slice(-1500)}`,
    )
  }
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: unknown
}
