import type { Content } from '../../../schemas/content.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { type Part, partsIn } from '../../../schemas/task.ts'
import { repeatsStructured } from '../../common/mcp/repeats.ts'

/** A block of an MCP result (ContentBlock). */
type Block = JsonObject

const json = 'application/json'

/**
 * What an agent said as parts of A2A, in order. From MCP, one part a block and the structured content as a data part,
 * unless a text block holds the same value. From A2A, the parts of the message, else of the artifacts, else of the
 * status.
 */
export function partsOf(content: Content): Part[] {
  if (content.protocol === 'a2a') return a2aParts(content.event)
  const { content: blocks, structuredContent } = content.result
  const all = Array.isArray(blocks) ? blocks.filter(isRecord) : []
  if (structuredContent === undefined) return all.map((block) => partOf(block as Block))
  const data: Part = { data: structuredContent as Json, mediaType: json }
  const others = all.filter((block) => !repeats(block as Block, structuredContent as Json))
  return [...others.map((block) => partOf(block as Block)), data]
}

/**
 * What an agent said as a result of MCP. From A2A, one block a part; a single data part that is an object is the
 * structured content too.
 */
export function resultOf(content: Content): JsonObject {
  if (content.protocol === 'mcp') return content.result
  const parts = a2aParts(content.event)
  const blocks = parts.map(blockOf)
  const objects = parts.filter(({ data }) => isRecord(data))
  const [only] = objects
  const structured = objects.length === 1 && only?.data !== undefined ? { structuredContent: only.data } : {}
  return { content: blocks, ...structured }
}

/** True for a text block that holds the JSON of the structured content (MCP 2025-06-18, Tools, Structured Content). */
function repeats({ type, text }: Block, structured: Json): boolean {
  return type === 'text' && typeof text === 'string' && repeatsStructured(text, structured)
}

/** A block of MCP as a part of A2A. What a part has no field for is in its metadata, under `mcp`. */
function partOf(block: Block): Part {
  const { type, text, data, mimeType, uri, name, resource, ...rest } = block
  if (type === 'text') return { text: String(text ?? ''), ...about(rest) }
  if (type === 'image' || type === 'audio') {
    return { raw: String(data ?? ''), ...mediaType(mimeType), ...about(rest) }
  }
  if (type === 'resource_link') {
    return { url: String(uri ?? ''), ...filename(name), ...mediaType(mimeType), ...about(rest) }
  }
  if (type === 'resource' && isRecord(resource)) {
    const { blob, text: inner, mimeType: innerType, ...more } = resource as JsonObject
    const body = blob === undefined ? { text: String(inner ?? '') } : { raw: String(blob) }
    return { ...body, ...mediaType(innerType), ...about({ ...rest, resource: more }) }
  }
  return { data: block, mediaType: json }
}

/** A part of A2A as a block of MCP. What a block has no field for is in its `_meta`, under `a2a`. */
function blockOf(part: Part): Block {
  const { text, data, raw, url, filename: name, mediaType: type = '', metadata = {} } = part
  const from = isRecord(metadata.mcp) ? metadata.mcp : undefined
  const { resource, ...fields } = (from ?? {}) as JsonObject
  // The SDK in Java states metadata of nothing.
  const rest = from || Object.keys(metadata).length === 0 ? fields : { _meta: { a2a: metadata } }
  if (isRecord(resource)) {
    const body = raw === undefined ? { text: text ?? '' } : { blob: raw }
    return { type: 'resource', resource: { ...resource, ...mimeType(type), ...body } as JsonObject, ...rest }
  }
  if (text !== undefined) return { type: 'text', text, ...rest }
  if (data !== undefined) return { type: 'text', text: JSON.stringify(data), ...rest }
  if (url !== undefined)
    return { type: 'resource_link', uri: url, name: name ?? url, ...mimeType(type), ...rest }
  const bytes = raw ?? ''
  if (/^image\//i.test(type)) return { type: 'image', data: bytes, mimeType: type, ...rest }
  if (/^audio\//i.test(type)) return { type: 'audio', data: bytes, mimeType: type, ...rest }
  const uri = `attachment:${encodeURIComponent(name ?? 'file')}`
  return { type: 'resource', resource: { uri, ...mimeType(type), blob: bytes }, ...rest }
}

function a2aParts({ message, task, statusUpdate, artifactUpdate }: JsonObject): Part[] {
  if (message !== undefined) return partsIn(message)
  if (isRecord(artifactUpdate)) return partsIn(artifactUpdate.artifact)
  if (isRecord(statusUpdate)) return statusParts(statusUpdate)
  if (!isRecord(task)) return []
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts.flatMap(partsIn) : []
  return artifacts.length > 0 ? artifacts : statusParts(task)
}

function statusParts({ status }: { readonly status?: unknown }): Part[] {
  return isRecord(status) ? partsIn(status.message) : []
}

function about(rest: JsonObject): { metadata?: JsonObject } {
  return Object.keys(rest).length > 0 ? { metadata: { mcp: rest } } : {}
}

function mediaType(value: unknown): { mediaType?: string } {
  return typeof value === 'string' && value !== '' ? { mediaType: value } : {}
}

function mimeType(value: string): { mimeType?: string } {
  return value === '' ? {} : { mimeType: value }
}

function filename(value: unknown): { filename?: string } {
  return typeof value === 'string' && value !== '' ? { filename: value } : {}
}
