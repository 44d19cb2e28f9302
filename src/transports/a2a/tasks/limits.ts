import type { TaskBounds } from '../../../../schemas/task.ts'

/** How many tasks there may be: of one owner, of one network address without a token, and in all. */
export interface Bounds {
  readonly owner: TaskBounds
  readonly address: TaskBounds
  readonly all: TaskBounds
}

const megabyte = 1024 * 1024

export const standardBounds: Bounds = {
  owner: { unfinished: 50, kept: 500, characters: 64 * megabyte },
  address: { unfinished: 10, kept: 100, characters: 16 * megabyte },
  all: { unfinished: 1000, kept: 20_000, characters: 1024 * megabyte },
}

/** How long things last, in milliseconds. */
export interface Spans {
  /** From a task's last change until it is forgotten. */
  readonly keep: number
  /** From when a worker last said that it is alive until nobody believes it. */
  readonly believe: number
  /** Between two times that it says so, and that it looks whether the task was cancelled elsewhere. */
  readonly beat: number
  /** Between two looks at a task that another process works on. */
  readonly look: number
  /** What work is given to end by itself when the gateway stops. */
  readonly stop: number
}

export const standardSpans: Spans = { keep: 3_600_000, believe: 60_000, beat: 2000, look: 1000, stop: 3000 }
