import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { failureOfProblem, textOf } from '../refusal.ts'
import type { RemoteAnswer } from '../remote-agent.ts'
import { failureOfRpc } from './problem.ts'

const largest = 1024 * 1024
const largestBinary = 256 * 1024

/**
 * What a tool answered, as the output of an action:
 *
 * | result | output |
 * | --- | --- |
 * | `structuredContent` | that |
 * | one text that is a JSON object or array | that |
 * | texts | `{text}`, joined by line breaks |
 * | anything else | `{content: […]}`, each block by the table of `block` |
 *
 * `isError` is what the agent refuses. Throws Failure `upstream_invalid` for more than 1 MiB of JSON.
 */
export function answerOf({ structuredContent, content, isError, _meta }: CallToolResult): RemoteAnswer {
  if (isError === true) return { refused: refusal(content, _meta) }
  const output = structuredContent === undefined ? written(content) : (structuredContent as Json)
  if (sizeOf(output) > largest) {
    throw new Failure(
      'upstream_invalid',
      `The agent answered more than ${largest} bytes, or too deeply nested.`,
    )
  }
  return { output }
}

/** Of JSON that came over the wire; without end for what is nested too deeply to be written again. */
function sizeOf(output: Json): number {
  try {
    return Buffer.byteLength(JSON.stringify(output))
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

function written(content: readonly ContentBlock[]): Json {
  const texts = content.flatMap((one) => (one.type === 'text' ? [one.text] : []))
  if (texts.length < content.length) return { content: content.map(block) }
  const [only = ''] = texts
  return (texts.length === 1 ? document(only) : undefined) ?? { text: texts.join('\n') }
}

/** A text that is the JSON of an object or an array. */
function document(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
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
function block(one: ContentBlock): JsonObject {
  switch (one.type) {
    case 'text':
      return { text: one.text }
    case 'image':
    case 'audio':
      return { media_type: one.mimeType, ...binary(one.data) }
    case 'resource_link':
      return { uri: one.uri, ...mediaType(one.mimeType), name: one.name }
    case 'resource': {
      const { resource } = one
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
  return bytes > largestBinary ? { bytes } : { base64 }
}

/** v1 of the SDK answers the JSON-RPC errors of a tool as its texts. */
const rpcInText = /^MCP error (-\d{5}): (.+)$/s

function refusal(content: readonly ContentBlock[], meta: unknown): Failure {
  const told = isRecord(meta) ? failureOfProblem(meta['dragoman/problem'], { who: 'The tool' }) : undefined
  if (told) return told
  const text = content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n')
  const [, code, message = ''] = rpcInText.exec(text) ?? []
  if (code === '-32602' || code === '-32601') return failureOfRpc({ code: Number(code), message })
  return new Failure('upstream_failed', textOf(text) ?? 'The tool failed without saying why.')
}
