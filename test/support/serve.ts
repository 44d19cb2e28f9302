import { command } from './command.ts'
import { type Running, run } from './processes.ts'

export interface Served extends Running {
  readonly url: string
}

/** Runs `dragoman serve` as a separate process on a free port over a folder; resolves once it answers. */
export async function serve(data: string, environment: Record<string, string> = {}): Promise<Served> {
  const running = run(process.execPath, [command, 'serve'], {
    PORT: '0',
    DRAGOMAN_DATA: data,
    DRAGOMAN_LOG: 'silent',
    DRAGOMAN_RATE_LIMIT: 'off',
    DRAGOMAN_QUOTAS: 'off',
    ...environment,
  })
  const [, url = ''] = await running.printed(/listening on (http:\S+)\n/)
  // The process prints its address shortly before it handles signals.
  await fetch(`${url}/healthz`)
  return { ...running, url }
}

/** Runs `dragoman mcp` over a folder, until its input ends. */
export function stdio(data: string, environment: Record<string, string> = {}): Running {
  return run(process.execPath, [command, 'mcp'], {
    DRAGOMAN_DATA: data,
    DRAGOMAN_LOG: 'silent',
    ...environment,
  })
}
