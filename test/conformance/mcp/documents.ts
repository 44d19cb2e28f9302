import { isRecord } from '../../../schemas/json.ts'
import { Fault, faults } from '../../../src/transports/mcp/protocol-2026/fault.ts'
import { accepted, elicit, inputRequired } from './ask.ts'
import { image, png, resource, text } from './content.ts'

const textAt = (uri: string, words: string, mimeType = 'text/plain') => ({
  contents: [{ uri, mimeType, text: words }],
})

export const resources = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain' },
]

export const resourceTemplates = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
]

/** Throws Fault -32602, or -32002 in the 2025 era. */
export function readResource(uri: string): { contents: object[] } {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` }
    return textAt(uri, JSON.stringify(data), 'application/json')
  }
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: png }] }
  if (resources.some((candidate) => candidate.uri === uri))
    return textAt(uri, 'This is the content of the resource.')
  throw new Fault(faults.invalidParams, `There is no resource ${uri}.`, { data: { uri } })
}

export const prompts = [
  { name: 'test_simple_prompt', description: 'Simple' },
  {
    name: 'test_prompt_with_arguments',
    description: 'With arguments',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: name, required: true })),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'With a resource',
    arguments: [{ name: 'resourceUri', description: 'Its address', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'With an image' },
  { name: 'test_input_required_result_prompt', description: 'Asks first' },
]

const user = (...contents: object[]) => ({
  messages: contents.map((content) => ({ role: 'user', content })),
})

export function getPrompt(params: Readonly<Record<string, unknown>>, capabilities: object): object {
  const values = isRecord(params.arguments) ? params.arguments : {}
  switch (params.name) {
    case 'test_simple_prompt':
      return user(text('This is a simple prompt for testing.'))
    case 'test_prompt_with_arguments':
      return user(text(`Prompt with arguments: arg1='${values.arg1}', arg2='${values.arg2}'`))
    case 'test_prompt_with_embedded_resource':
      return user(
        resource(String(values.resourceUri), 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      )
    case 'test_prompt_with_image':
      return user(image, text('Please analyze the image above.'))
    case 'test_input_required_result_prompt': {
      const context = accepted(params.inputResponses, 'user_context')?.context
      if (typeof context === 'string') return user(text(`Use the following context: ${context}`))
      const question = elicit('What context should the prompt use?', { context: { type: 'string' } })
      return inputRequired({ user_context: question }, capabilities)
    }
    default:
      throw new Fault(faults.invalidParams, `There is no prompt ${params.name}.`)
  }
}
