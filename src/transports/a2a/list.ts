import { Failure } from '../../../schemas/failure.ts'
import { packageNameOf } from '../../../schemas/names.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { TaskPosition } from '../../../schemas/task.ts'
import { principalKey } from '../../common/principal-key.ts'
import { listParams } from './protocol/params.ts'
import type { TaskManager } from './tasks/task-manager.ts'
import { showTask } from './tasks/view.ts'

const usualPage = 50

/**
 * ListTasks (section 3.1.4): the caller's own tasks, of one agent if the tenant names one, as JSON text. Throws Failure
 * `unauthenticated` without a token.
 */
export async function listTasks(
  taskManager: TaskManager,
  input: unknown,
  caller: Principal | null,
): Promise<string> {
  const params = listParams.parse(input)
  if (!caller) {
    throw new Failure('unauthenticated', 'Listing tasks needs a bearer token.', {
      hint: 'GetTask returns an anonymous task to every caller who knows its id.',
    })
  }
  const { tenant, contextId, status, pageToken, historyLength, statusTimestampAfter, includeArtifacts } =
    params
  const pageSize = params.pageSize ?? usualPage
  const { tasks, more, total } = await taskManager.list({
    owner: principalKey(caller),
    agent: tenant ? packageNameOf(tenant) : undefined,
    context_id: contextId || undefined,
    state: status ?? undefined,
    updated_after: statusTimestampAfter ? new Date(statusTimestampAfter).toISOString() : undefined,
    after: pageToken ? positionIn(pageToken) : undefined,
    limit: pageSize,
  })
  const last = tasks.at(-1)
  return JSON.stringify({
    tasks: tasks.map((task) => showTask(task, { historyLength, artifacts: includeArtifacts ?? false })),
    nextPageToken: more && last ? tokenOf(last) : '',
    pageSize,
    totalSize: total,
  })
}

function tokenOf({ updated_at, id }: TaskPosition): string {
  return Buffer.from(`${updated_at} ${id}`).toString('base64url')
}

const position = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{32})$/

function positionIn(token: string): TaskPosition {
  const [, updated_at, id] = position.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (updated_at && id) return { updated_at, id }
  throw Failure.invalidField('/pageToken', 'This is not a nextPageToken of an earlier list.')
}
