import { setTimeout as pause } from 'node:timers/promises'
import type { Artifact, Part, TaskState } from '../../../schemas/task.ts'
import type { Job, Tell, Work } from '../../../src/transports/a2a/work.ts'

const text = (words: string): Part => ({ text: words })
const artifact = (...parts: Part[]): Artifact => ({ artifactId: 'artifact-1', name: 'Artifact', parts })
const file: Part = {
  raw: Buffer.from('Generated file content').toString('base64'),
  filename: 'output.txt',
  mediaType: 'text/plain',
}
const fileUrl: Part = {
  url: 'https://example.com/output.txt',
  filename: 'output.txt',
  mediaType: 'text/plain',
}

/** A task that comes to these artifacts and then to an end. */
function task(state: TaskState, words?: string, ...artifacts: Artifact[]): Job {
  return {
    async run(_, tell) {
      await tell({ state: 'TASK_STATE_WORKING' })
      for (const item of artifacts) await tell({ artifact: item, last: true })
      await tell({ state, ...(words !== undefined && { parts: [text(words)] }) })
    },
  }
}

const done = (...artifacts: Artifact[]) => task('TASK_STATE_COMPLETED', undefined, ...artifacts)

async function chunks(tell: Tell): Promise<void> {
  await tell({ state: 'TASK_STATE_WORKING' })
  await tell({ artifact: artifact(text('chunk-1 ')) })
  await tell({ artifact: artifact(text('chunk-2')), append: true, last: true })
}

/** What the kit's scenarios ask for, by how the id of a message begins; the longer beginning counts. */
const scenarios: Readonly<Record<string, Job>> = {
  'tck-complete-task': task('TASK_STATE_COMPLETED', 'Hello from TCK'),
  'tck-artifact-text': done(artifact(text('Generated text content'))),
  'tck-artifact-file-url': done(artifact(fileUrl)),
  'tck-artifact-file': done(artifact(file)),
  'tck-artifact-data': done(artifact({ data: { key: 'value', count: 42 } })),
  'tck-message-response': {
    answer: async () => ({ parts: JSON.stringify([text('Direct message response')]) }),
  },
  'tck-input-required': task('TASK_STATE_INPUT_REQUIRED', 'What else?'),
  'tck-reject-task': task('TASK_STATE_REJECTED', 'rejected'),
  'tck-stream-001': done(artifact(text('Stream hello from TCK'))),
  'tck-stream-002': { run: async (_, tell) => await tell({ state: 'TASK_STATE_COMPLETED' }) },
  'tck-stream-003': done(artifact(text('Stream task lifecycle'))),
  'tck-stream-ordering-001': done(artifact(text('Ordered output'))),
  'tck-stream-artifact-text': done(artifact(text('Streamed text content'))),
  'tck-stream-artifact-file': done(artifact(file)),
  'tck-stream-artifact-chunked': { run: (_, tell) => chunks(tell) },
  'test-resubscribe-message-id': {
    async run({ signal }, tell) {
      await tell({ state: 'TASK_STATE_WORKING' })
      await pause(4000, undefined, { signal })
    },
  },
}

/** The kit's agent: text in, whatever the message's id says out. */
export function scenarioWork(extendedCard: Work['extendedCard']): Work {
  return {
    read({ message }) {
      const [found] = Object.keys(scenarios)
        .filter((beginning) => message.messageId.startsWith(beginning))
        .toSorted((item, other) => other.length - item.length)
      return (found && scenarios[found]) || done()
    },
    extendedCard,
  }
}
