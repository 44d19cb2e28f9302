import { Failure } from '../../../schemas/failure.ts'
import type { RunnerOptions } from '../runner.ts'
import { openBubblewrap } from './bubblewrap.ts'
import { containersOf, openEngine } from './container.ts'
import { findControlGroups } from './control-groups.ts'
import { type Images, imagesOf } from './images.ts'
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

/** What runs images: podman or docker. */
export async function findImages({ path, sandboxes }: RunnerOptions): Promise<Images> {
  const problems: string[] = []
  for (const name of ['podman', 'docker'] as const) {
    if (sandboxes && !sandboxes.includes(name)) continue
    try {
      return imagesOf(await openEngine(name, path))
    } catch (thrown) {
      problems.push((thrown as Error).message)
    }
  }
  const problem = `Images need podman or docker (${problems.join('; ')}).`
  const fail = () => Promise.reject(new Failure('not_configured', problem))
  return {
    report: { kind: null, version: null, problem, limited: [], not_limited: [] },
    pull: fail,
    inspect: fail,
    start: fail,
  }
}

const openers: Record<Kind, (options: RunnerOptions) => Promise<Sandbox>> = {
  bubblewrap: ({ path }) => {
    if (process.platform !== 'linux') return Promise.reject(new Error('bubblewrap is for Linux'))
    return openBubblewrap(path, findControlGroups())
  },
  podman: async ({ path }) => containersOf(await openEngine('podman', path)),
  docker: async ({ path }) => containersOf(await openEngine('docker', path)),
}
