import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RunLimits } from '../runner.ts'

/** What a control group limits. */
type Controller = 'memory' | 'pids' | 'cpu'

/** The control groups of one command. */
export interface ControlGroup extends Disposable {
  /** A process that writes its id here joins. */
  readonly joins: readonly string[]
  /** Ids of the processes in it. */
  processes(): number[]
  /** True if the kernel ended one of its processes for want of memory. */
  ranOutOfMemory(): boolean
}

export interface ControlGroups {
  readonly controllers: readonly Controller[]
  create(limits: RunLimits): ControlGroup
}

/** A folder in which groups with these controllers can be made. */
interface Parent {
  readonly folder: string
  readonly version: 1 | 2
  readonly controllers: readonly Controller[]
}

const controllers: readonly Controller[] = ['memory', 'pids', 'cpu']
const prefix = 'dragoman-'
const cpuPeriod_us = 100_000

/** Finds the control groups (version 1 or 2) in which this process may make groups. `root` is `/sys/fs/cgroup`. */
export function findControlGroups(root = '/sys/fs/cgroup', own = '/proc/self/cgroup'): ControlGroups {
  const parents: Parent[] = []
  for (const parent of candidates(root, own)) {
    const left = parent.controllers.filter(
      (name) => !parents.some((other) => other.controllers.includes(name)),
    )
    const usable = left.filter((name) => canLimit(parent, name))
    if (usable.length === 0) continue
    removeAbandoned(parent.folder)
    parents.push({ ...parent, controllers: usable })
  }
  return {
    controllers: parents.flatMap((parent) => parent.controllers),
    create: (limits) => createGroup(parents, limits),
  }
}

function candidates(root: string, own: string): Parent[] {
  const found: Parent[] = []
  for (const line of readLines(own)) {
    const [, names = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (names === '') {
      // Version 2: processes live in leaves alone, so a sibling is tried before a child.
      for (const base of [join(root, 'unified'), root]) {
        for (const folder of [dirname(join(base, path)), join(base, path)]) {
          if (!folder.startsWith(base)) continue
          const enabled = readLines(join(folder, 'cgroup.subtree_control')).join(' ').split(' ')
          found.push({
            folder,
            version: 2,
            controllers: controllers.filter((name) => enabled.includes(name)),
          })
        }
      }
      continue
    }
    const controlled = controllers.filter((name) => names.split(',').includes(name))
    if (controlled.length === 0) continue
    // In a container the path may be that of the host.
    for (const folder of [join(root, names, path), join(root, names)]) {
      found.push({ folder, version: 1, controllers: controlled })
    }
  }
  return found
}

/** Removes the groups of gateways that were killed. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && !existsSync(`/proc/${pid}`)) removeGroup(join(folder, name))
  }
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It was not made, or a process that ends right now is still in it.
  }
}

function canLimit(parent: Parent, controller: Controller): boolean {
  const trial = { memory_bytes: 1 << 30, processes: 100, processors: 1 } as RunLimits
  try {
    using _group = createGroup([{ ...parent, controllers: [controller] }], trial)
    return true
  } catch {
    return false
  }
}

function createGroup(parents: readonly Parent[], limits: RunLimits): ControlGroup {
  const name = `${prefix}${process.pid}-${randomUUID()}`
  const groups = parents.map((parent) => ({ ...parent, folder: join(parent.folder, name) }))
  const remove = () => {
    for (const { folder } of groups) removeGroup(folder)
  }
  try {
    for (const { folder, version, controllers } of groups) {
      mkdirSync(folder)
      for (const controller of controllers) {
        for (const [file, value] of settings[version][controller](limits))
          writeFileSync(join(folder, file), value)
      }
    }
  } catch (thrown) {
    remove()
    throw thrown
  }
  return {
    joins: groups.map(({ folder }) => join(folder, 'cgroup.procs')),
    processes: () => groups.flatMap(({ folder }) => readLines(join(folder, 'cgroup.procs'))).map(Number),
    ranOutOfMemory: () =>
      groups
        .flatMap(({ folder, version }) =>
          readLines(join(folder, version === 1 ? 'memory.oom_control' : 'memory.events')),
        )
        .some((line) => /^oom_kill [1-9]/.test(line)),
    [Symbol.dispose]: remove,
  }
}

type Settings = Record<Controller, (limits: RunLimits) => [file: string, value: string][]>

const settings: Record<1 | 2, Settings> = {
  1: {
    memory: ({ memory_bytes }) => [['memory.limit_in_bytes', String(memory_bytes)]],
    pids: ({ processes }) => [['pids.max', String(processes)]],
    cpu: ({ processors }) => [
      ['cpu.cfs_period_us', String(cpuPeriod_us)],
      ['cpu.cfs_quota_us', String(Math.round(processors * cpuPeriod_us))],
    ],
  },
  2: {
    memory: ({ memory_bytes }) => [
      ['memory.max', String(memory_bytes)],
      ['memory.oom.group', '1'],
    ],
    pids: ({ processes }) => [['pids.max', String(processes)]],
    cpu: ({ processors }) => [['cpu.max', `${Math.round(processors * cpuPeriod_us)} ${cpuPeriod_us}`]],
  },
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}
