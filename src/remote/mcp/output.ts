import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { Content } from '../../../schemas/content.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Json, JsonObject } from '../../../schemas/json.ts'
import { isPlain } from '../../../schemas/plain.ts'
import { parseJson } from '../../common/json.ts'
import { repeatsStructured } from '../../common/mcp/repeats.ts'
import { failureOfProblem, quoted, textOf } from '../refusal.ts'
import type { RemoteAnswer } from '../remote-agent.ts'
import { failureOfRpc, saysUnknownTool } from './failure.ts'
import type { Sdk } from './sdk.ts'

const maxBinaryBytes = 256 * 1024

/**
 * The result of a tool as the output of an action:
 *
 * | result | output |
 * | --- | --- |
 * | `structuredContent` | its value; with texts that say more `{text, data}`, with other blocks `{data, content}` |
 * | one text that is a JSON object or array | its value |
 * | texts | `{text}`, joined by line breaks |
 * | anything else | `{content: […]}`, each block by the table of `block` |
 *
 * `isError` means that the agent refuses the call of this tool. Throws Failure `upstream_invalid`.
 */
export function answerOf(result: JsonObject, tool: string, sdk: Sdk): RemoteAnswer {
  const answered = checked(result, sdk)
  const { structuredContent, content, isError } = answered
  const passed: Content = { protocol: 'mcp', result }
  if (isError === true) return { refused: Object.assign(refusal(answered, tool), { content: passed }) }
  const output =
    structuredContent === undefined ? contentOf(content) : structuredOf(structuredContent as Json, content)
  return { output, content: passed }
}

function checked(result: JsonObject, sdk: Sdk): CallToolResult {
  const checkedResult = sdk.specTypeSchemas.CallToolResult['~standard'].validate(result)
  if (!checkedResult.issues) return checkedResult.value
  const [issue] = checkedResult.issues
  throw new Failure(
    'upstream_invalid',
    `The agent's answer cannot be read: it is no result of a tool (${textOf(issue?.message) ?? ''}).`,
  )
}

function structuredOf(data: Json, content: readonly ContentBlock[]): Json {
  const others = content.filter((item) => item.type !== 'text' || !repeatsStructured(item.text, data))
  if (others.length === 0) return data
  const texts = others.flatMap((item) => (item.type === 'text' ? [item.text] : []))
  if (texts.length === others.length) return { text: texts.join('\n'), data }
  return { data, content: others.map(block) }
}

function contentOf(content: readonly ContentBlock[]): Json {
  const texts = content.flatMap((item) => (item.type === 'text' ? [item.text] : []))
  if (texts.length < content.length) return { content: content.map(block) }
  const [only = ''] = texts
  return (texts.length === 1 ? document(only) : undefined) ?? { text: texts.join('\n') }
}

/** A text that is the JSON of an object or an array; one that no output may be, as it is nested too deep, stays a text. */
function document(text: string): Json | undefined {
  const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  return isPlain(value) ? (value as Json | undefined) : undefined
}

/**
 * | block | written as |
 * | --- | --- |
 * | text | `{text}` |
 * | image, audio | `{media_type, base64}` up to 256 KiB, else `{media_type, bytes}` |
 * | resource with a text | `{uri, media_type?, text}` |
 * | resource with bytes | `{uri, media_type?, base64}` up to 256 KiB, else `{uri, media_type?, bytes}` |
 * | resource_link | `{uri, media_type?, name}` |
 */
function block(item: ContentBlock): JsonObject {
  switch (item.type) {
    case 'text':
      return { text: item.text }
    case 'image':
    case 'audio':
      return { media_type: item.mimeType, ...binary(item.data) }
    case 'resource_link':
      return { uri: item.uri, ...mediaType(item.mimeType), name: item.name }
    case 'resource': {
      const { resource } = item
      const body = 'text' in resource ? { text: resource.text } : binary(resource.blob)
      return { uri: resource.uri, ...mediaType(resource.mimeType), ...body }
    }
  }
}

function mediaType(type: string | undefined): JsonObject {
  return type === undefined ? {} : { media_type: type }
}

function binary(base64: string): JsonObject {
  const bytes = Buffer.byteLength(base64, 'base64')
  return bytes > maxBinaryBytes ? { bytes } : { base64 }
}

/** v1 of the SDK returns JSON-RPC errors of a tool as text content. */
const rpcInText = /^MCP error (-\d{5}): (.+)$/s

function refusal({ content, structuredContent, _meta }: CallToolResult, tool: string): Failure {
  const problem = failureOfProblem(_meta?.['dragoman/problem'], { who: 'The tool' })
  if (problem) return problem
  const text = content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n')
  const [, code, message = ''] = rpcInText.exec(text) ?? []
  if (code === '-32602' || code === '-32601') return failureOfRpc({ code: Number(code), message })
  const detail = quoted(text) ?? quoted(JSON.stringify(structuredContent))
  if (detail !== undefined && saysUnknownTool(text, tool)) return new Failure('unknown_action', detail)
  return new Failure('upstream_failed', detail ?? 'The tool failed without a reason.', { retryable: false })
}
