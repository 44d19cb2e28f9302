import type { RunnerOptions } from '../runner.ts'
import { openBubblewrap } from './bubblewrap.ts'
import { openContainers } from './container.ts'
import { findControlGroups } from './control-groups.ts'
import type { Sandbox } from './sandbox.ts'
import { unsandboxed } from './unsandboxed.ts'

type Kind = NonNullable<RunnerOptions['sandboxes']>[number]

/** The first sandbox that works here; without any, none at all if that is allowed, else a report with the reason. */
export async function findSandbox(options: RunnerOptions): Promise<Sandbox> {
  const problems: string[] = []
  for (const kind of options.sandboxes ?? (['bubblewrap', 'podman', 'docker'] as const)) {
    try {
      return await openers[kind](options)
    } catch (thrown) {
      problems.push((thrown as Error).message)
    }
  }
  if (options.unsandboxed) return unsandboxed
  const problem = `No sandbox works here (${problems.join('; ')}). Install bubblewrap (Linux), podman or docker.`
  return {
    report: { kind: null, version: null, problem, limited: [], not_limited: [] },
    start: () => Promise.reject(new Error(problem)),
  }
}

const openers: Record<Kind, (options: RunnerOptions) => Promise<Sandbox>> = {
  bubblewrap: ({ path }) => {
    if (process.platform !== 'linux') return Promise.reject(new Error('bubblewrap is for Linux'))
    return openBubblewrap(path, findControlGroups())
  },
  podman: ({ path }) => openContainers('podman', path),
  docker: ({ path }) => openContainers('docker', path),
}
