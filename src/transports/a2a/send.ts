import { randomUUID } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Json } from '../../../schemas/json.ts'
import { assertPlain } from '../../../schemas/plain.ts'
import { isInterrupted, isTerminal, type Message, type Part, type StoredTask } from '../../../schemas/task.ts'
import { type A2aError, refusal } from './protocol/error.ts'
import { type SendParams, sendParams } from './protocol/params.ts'
import { type PushConfig, pushConfig } from './tasks/push.ts'
import type { TaskManager } from './tasks/task-manager.ts'
import { type StreamEvent, showTask } from './tasks/view.ts'
import type { A2aCall, Job, MessageContent, Work } from './work.ts'

export interface SendOptions {
  readonly work: Work
  readonly taskManager: TaskManager
  /** Turns a thrown value into an A2A error. */
  readonly explain: (thrown: unknown, id: string) => A2aError
}

interface ReadMessage {
  readonly params: SendParams
  readonly job: Job
  readonly context_id: string
  /** The interrupted task that the message continues. */
  readonly task?: StoredTask
  readonly push?: PushConfig
}

/** SendMessage as JSON text: a message if the work answers with a message and the caller waits, otherwise a task. */
export async function sendMessage(options: SendOptions, params: unknown, call: A2aCall): Promise<string> {
  const message = await read(options, params, call)
  const { job, task, context_id } = message
  const { returnImmediately, historyLength } = message.params.configuration ?? {}
  if (job.answer && !task && !(returnImmediately && job.run)) {
    return `{"message":${messageText(context_id, await job.answer(call))}}`
  }
  const begun = await begin(options, message, call)
  if ('message' in begun) return JSON.stringify(begun)
  begun.events.leave()
  const now = returnImmediately ? begun.task : await begun.ended
  return JSON.stringify({ task: showTask(now, { historyLength }) })
}

/** SendStreamingMessage: the task and its events, or one message. */
export async function streamMessage(
  options: SendOptions,
  params: unknown,
  call: A2aCall,
): Promise<AsyncIterable<StreamEvent>> {
  const message = await read(options, params, call)
  const { job, context_id, task } = message
  if (job.answer && !job.run && !task) {
    const message: Message = JSON.parse(messageText(context_id, await job.answer(call)))
    return single({ message })
  }
  const begun = await begin(options, message, call)
  return 'message' in begun ? single(begun as unknown as StreamEvent) : begun.events
}

async function* single(event: StreamEvent): AsyncGenerator<StreamEvent> {
  yield event
}

async function read({ work, taskManager }: SendOptions, input: unknown, call: A2aCall): Promise<ReadMessage> {
  const params = sendParams.parse(input)
  const { message, configuration } = params
  const stated = configuration?.taskPushNotificationConfig
  const push = stated == null ? {} : { push: pushConfig.parse(stated) }
  if (push.push) taskManager.push.assertAllowed(push.push, call.principal)
  const references = await taskManager.references(message.referenceTaskIds ?? [], call.principal)
  if (!message.taskId) {
    return {
      params,
      job: work.read(params, undefined, references),
      context_id: message.contextId || randomUUID(),
      ...push,
    }
  }
  const task = await taskManager.get(message.taskId, call.principal)
  assertTakesMessage(task, message.contextId)
  return { params, job: work.read(params, task, references), context_id: task.context_id, task, ...push }
}

async function begin(
  { taskManager, explain }: SendOptions,
  incoming: ReadMessage,
  call: A2aCall,
): ReturnType<TaskManager['begin']> {
  const { params, job, context_id, task, push } = incoming
  if (!job.run) throw refusal('UNSUPPORTED_OPERATION', 'This message is answered directly and makes no task.')
  const { message } = params
  assertPlain(message)
  return await taskManager.begin({
    run: job.run,
    agent: job.agent,
    call,
    message: storedMessage(message),
    context_id,
    task,
    push,
    explain: explanation(explain, call),
  })
}

/** An error as the parts of the message of a failed task. */
export function explanation(explain: SendOptions['explain'], { id = '' }: A2aCall) {
  return (thrown: unknown): readonly Part[] => failureParts(explain(thrown, id))
}

/** The fields of a message that the history stores. */
function storedMessage({
  messageId,
  role,
  parts,
  metadata,
  extensions,
  referenceTaskIds,
}: SendParams['message']): Message {
  return {
    messageId,
    role,
    parts: parts as Part[],
    ...(metadata && { metadata: metadata as Message['metadata'] & object }),
    ...(extensions && { extensions }),
    ...(referenceTaskIds && { referenceTaskIds }),
  }
}

function failureParts({ http, status, message, details }: A2aError): Part[] {
  const error = { code: http, status, message, details } as unknown as Json
  return [{ text: message }, { data: { error }, mediaType: 'application/json' }]
}

function messageText(contextId: string, { parts, metadata }: MessageContent): string {
  const members = { messageId: randomUUID(), contextId, role: 'ROLE_AGENT', ...(metadata && { metadata }) }
  const head = JSON.stringify(members).slice(0, -1)
  return `${head},"parts":${parts}}`
}

/** Throws A2aRefusal if the task takes no message, and Failure if the message names another context. */
function assertTakesMessage(task: StoredTask, context_id: string | null | undefined): void {
  if (context_id && context_id !== task.context_id) {
    const detail = 'The task belongs to another context; leave contextId out.'
    throw new Failure('invalid_request', detail, { errors: [{ pointer: '/message/contextId', detail }] })
  }
  if (isInterrupted(task.state)) return
  const reason = isTerminal(task.state) ? 'is over' : 'is being worked on'
  throw refusal('UNSUPPORTED_OPERATION', `The task ${reason} and takes no message; send one without taskId.`)
}
