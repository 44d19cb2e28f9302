import type { TaskBounds } from '../../../../schemas/task.ts'

/** Maximum number of tasks of one owner, of one network address without a token, and in total. */
export interface TaskLimits {
  readonly owner: TaskBounds
  readonly address: TaskBounds
  readonly all: TaskBounds
}

const megabyte = 1024 * 1024

export const standardLimits: TaskLimits = {
  owner: { unfinished: 50, total: 500, characters: 64 * megabyte },
  address: { unfinished: 10, total: 100, characters: 16 * megabyte },
  all: { unfinished: 1000, total: 20_000, characters: 1024 * megabyte },
}

/** Durations of the life of a task, in milliseconds. */
export interface TaskTimes {
  /** From a task's last change until it is deleted. */
  readonly retention: number
  /** From the last heartbeat of a task's holder until another process may take the task over. */
  readonly lease: number
  /**
   * How long a task is seen without a lease before it is taken over: after an outage of the database, holders that live
   * renew their leases first. Longer than a statement may take that hangs since before.
   */
  readonly grace: number
  /** Between two heartbeats, which also read whether the task was cancelled elsewhere. */
  readonly heartbeat: number
  /** Between two reads of a task that another process works on. */
  readonly poll: number
  /** Maximum time for an agent that has taken a cancellation to end its task. */
  readonly cancel: number
  /** Maximum time for running tasks after the gateway begins to stop. */
  readonly shutdown: number
}

export const standardTimes: TaskTimes = {
  retention: 3_600_000,
  lease: 40_000,
  grace: 20_000,
  heartbeat: 2000,
  poll: 1000,
  cancel: 2000,
  shutdown: 3000,
}
