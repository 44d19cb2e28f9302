import type { Outcome } from './transports.ts'

export const a2aVersion = { 'A2A-Version': '1.0' }

type Parts = readonly object[]

/** The params of SendMessage, with these parts. */
export function message(parts: Parts, extra: object = {}): { message: object } {
  return { message: { messageId: 'm-1', role: 'ROLE_USER', parts, ...extra } }
}

/** An envelope as the one data part of a message. */
export function dataMessage(envelope: unknown): object {
  return message([{ data: envelope }])
}

/** The result in a SendMessageResponse: a message, the task, or the details of an error. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export function fromA2a(result: any, details: any): Outcome {
  if (details) return { code: details[0].metadata.code }
  const { message, task } = result
  if (message) return { output: message.parts[0].data }
  if (task.artifacts?.length > 0) return { output: task.artifacts[0].parts[0].data }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const data = task.status.message.parts.find((part: any) => part.data)?.data
  // An agent of A2A fails in its own words, which pass through.
  if (!data && task.status.state === 'TASK_STATE_FAILED') return { code: 'upstream_failed' }
  return data.error ? { code: data.error.details[0].metadata.code } : { output: data }
}
