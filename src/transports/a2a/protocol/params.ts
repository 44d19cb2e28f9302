import { z } from 'zod'
import { isRecord } from '../../../../schemas/json.ts'
import { input } from '../../../../schemas/shape.ts'
import { TaskState } from '../../../../schemas/task.ts'

/** ProtoJSON: an absent field, null and the empty text are equal. */
const name = z.string().max(256).nullish()
/** Long enough for a sealed id of an agent. */
const contextName = z.string().max(2048).nullish()
const id = z.string().min(1).max(256)

/** ProtoJSON allows numbers as text, and a query holds only text. */
function integer(min: number, max: number) {
  const read = (value: unknown) =>
    typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value
  return z.preprocess(read, z.int().min(min).max(max).nullish())
}
const historyLength = integer(0, 2 ** 31 - 1)

const Part = z.looseObject({
  text: z.unknown(),
  data: z.unknown(),
  raw: z.unknown(),
  url: z.unknown(),
  filename: z.string().max(1024),
  mediaType: z.string().max(256),
  metadata: z.record(z.string(), z.unknown()),
})

/**
 * The fields of a SendMessageRequest (section 3.2.1) that the gateway uses; other fields are ignored, as section 5.7
 * requires.
 */
export const sendParams = input(
  z.object({
    tenant: name,
    // Agents elsewhere may know more fields.
    message: z.looseObject({
      messageId: z.string().min(1).max(256),
      role: z.literal('ROLE_USER'),
      contextId: contextName,
      taskId: name,
      parts: z.array(Part.partial()).min(1).max(100),
      metadata: z.record(z.string(), z.unknown()).nullish(),
      extensions: z.array(z.string().max(1024)).max(100).nullish(),
      referenceTaskIds: z.array(z.string().max(256)).max(100).nullish(),
    }),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    configuration: z
      .object({
        taskPushNotificationConfig: z.unknown(),
        returnImmediately: z.boolean().nullish(),
        acceptedOutputModes: z.array(z.string().max(256)).max(100).nullish(),
        historyLength,
      })
      .partial()
      .nullish(),
  }),
)
export type SendParams = ReturnType<typeof sendParams.parse>
export type RequestPart = SendParams['message']['parts'][number]

export const taskParams = input(z.object({ id, historyLength }))

/** The task and, but for lists, the configuration of push notifications. */
export const pushParams = input(z.object({ taskId: id, id: z.string().max(256).nullish() }))

const Unspecified = z.enum(['TASK_STATE_UNSPECIFIED', '']).transform(() => undefined)

export const listParams = input(
  z.object({
    tenant: name,
    contextId: contextName,
    status: z.union([TaskState, Unspecified]).nullish(),
    pageSize: integer(1, 100),
    pageToken: z.string().max(512).nullish(),
    historyLength,
    statusTimestampAfter: z.iso.datetime({ offset: true }).or(z.literal('')).nullish(),
    includeArtifacts: z.boolean().nullish(),
  }),
)

export const cardParams = input(z.object({ tenant: name, version: z.enum(['1.0', '0.3']).default('1.0') }))

/** ProtoJSON also allows the names of the proto file: `history_length`. */
export function protoNames(params: unknown): unknown {
  if (!isRecord(params)) return params
  const { message, configuration, ...rest } = camel(params)
  if (!isRecord(message)) return message === undefined ? rest : { ...rest, message }
  const { parts, ...others } = camel(message)
  const named = { ...others, parts: Array.isArray(parts) ? parts.map(camel) : parts }
  return {
    ...rest,
    message: named,
    ...(configuration !== undefined && { configuration: camel(configuration) }),
  }
}

function camel<T>(value: T): T {
  if (!isRecord(value) || !Object.keys(value).some((key) => key.includes('_'))) return value
  const entries = Object.entries(value).map(([key, field]) => [
    key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    field,
  ])
  return Object.fromEntries(entries)
}
