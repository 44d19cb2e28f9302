import { elicit, type Question, sample } from './ask.ts'
import { audio, image, resource, text } from './content.ts'

/** What a tool of the fixture is given, in either era. */
export interface ToolRequest {
  readonly params: Readonly<Record<string, unknown>>
  readonly input: Readonly<Record<string, unknown>>
  readonly progressToken: unknown
  readonly capabilities: object
  readonly logLevel: string | undefined
  notify(method: string, params: object): Promise<void>
  /** Asks the client at once, as the 2025 era does. */
  ask(question: Question): Promise<Readonly<Record<string, unknown>>>
  /** Tells subscribers of a change. */
  changed(list: 'tools' | 'prompts'): void
}

export interface FixtureTool {
  readonly description: string
  readonly properties?: Readonly<Record<string, object>>
  readonly inputSchema?: object
  run(request: ToolRequest): object | Promise<object>
}

const words = (...content: object[]) => ({ content })

async function log(request: ToolRequest, data: string): Promise<void> {
  await request.notify('notifications/message', { level: 'info', data })
}

async function answerTo(request: ToolRequest, question: Question): Promise<object> {
  const { action, content } = await request.ask(question)
  return words(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`))
}

const enumeration = ['option1', 'option2', 'option3']
const titled = (...titles: string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }))

/** The tools that the scenarios call by name. */
export const plainTools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    description: 'Text',
    run: () => words(text('This is a simple text response for testing.')),
  },
  test_image_content: { description: 'An image', run: () => words(image) },
  test_audio_content: { description: 'Sound', run: () => words(audio) },
  test_embedded_resource: {
    description: 'A resource',
    run: () =>
      words(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  },
  test_multiple_content_types: {
    description: 'Several kinds',
    run: () =>
      words(
        text('Multiple content types test:'),
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ),
  },
  test_tool_with_logging: {
    description: 'Log messages',
    async run(request) {
      for (const part of ['started', 'processing data', 'completed']) await log(request, `Tool ${part}`)
      return words(text('Tool with logging executed successfully'))
    },
  },
  test_tool_with_progress: {
    description: 'Progress',
    async run({ notify, progressToken }) {
      if (progressToken !== undefined) {
        for (const progress of [0, 50, 100])
          await notify('notifications/progress', { progressToken, progress, total: 100 })
      }
      return words(text(String(progressToken ?? 'no-progress-token')))
    },
  },
  test_error_handling: {
    description: 'An error',
    run: () => ({ ...words(text('This tool intentionally returns an error for testing')), isError: true }),
  },
  test_streaming_elicitation: {
    description: 'A stream without requests',
    run: () => words(text('Nothing was asked.')),
  },
  test_logging_tool: {
    description: 'Logs where it is asked to',
    async run(request) {
      if (request.logLevel !== undefined) await log(request, 'ran')
      return words(text('ran'))
    },
  },
  test_sampling: {
    description: 'Asks the model of the client',
    properties: { prompt: { type: 'string' } },
    async run({ ask, input }) {
      const { content } = await ask(sample(String(input.prompt), 100))
      return words(text(`LLM response: ${(content as { text?: string } | undefined)?.text}`))
    },
  },
  test_elicitation: {
    description: 'Asks the user',
    properties: { message: { type: 'string' } },
    async run({ ask, input }) {
      const { action, content } = await ask(elicit(String(input.message), { response: { type: 'string' } }))
      return words(text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`))
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with defaults',
    run: (request) =>
      answerTo(
        request,
        elicit(
          'Review the fields',
          {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
          [],
        ),
      ),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with enumerations',
    run: (request) =>
      answerTo(
        request,
        elicit(
          'Select options',
          {
            untitledSingle: { type: 'string', enum: enumeration },
            titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', minItems: 1, items: { type: 'string', enum: enumeration } },
            titledMulti: {
              type: 'array',
              minItems: 1,
              items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') },
            },
          },
          [],
        ),
      ),
  },
  test_trigger_tool_change: {
    description: 'Changes the list of tools',
    run({ changed }) {
      changed('tools')
      return words(text('changed'))
    },
  },
  test_trigger_prompt_change: {
    description: 'Changes the list of prompts',
    run({ changed }) {
      changed('prompts')
      return words(text('changed'))
    },
  },
}
