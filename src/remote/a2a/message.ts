import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { listedActions, registryExtension } from '../../../schemas/names.ts'
import type { RemoteFacts } from '../remote-agent.ts'

/** Content of an A2A message: its parts, and the id of the skill in its metadata. */
interface MessageContent {
  readonly parts: readonly JsonObject[]
  readonly metadata?: JsonObject
}

/**
 * A call as a message. For another Dragoman gateway: `{action, params}` as data. For others: params as data if the
 * skill reads JSON, except that `text` alone is sent as text, and `parts` alone as these parts. If the skill reads only
 * text: the only string value, else the JSON of the params.
 */
export function messageOf(
  action: string,
  params: JsonObject,
  { card }: Pick<RemoteFacts, 'card'>,
): MessageContent {
  if (declares(card, registryExtension)) return { parts: [dataPart({ action, params })] }
  const skill = skillOf(card, action)
  const metadata = skill && typeof skill.id === 'string' ? { metadata: { skillId: skill.id } } : {}
  const { text, ...rest } = params
  if (typeof text === 'string' && Object.keys(rest).length === 0) return { parts: [{ text }], ...metadata }
  const isMessage = action === listedActions.message
  const { data, parts: stated } = params
  if (isMessage && Array.isArray(stated)) return { parts: stated.filter(isRecord) as JsonObject[] }
  if (areParts(stated) && Object.keys(params).length === 1) return { parts: stated, ...metadata }
  if (!readsJson(skill, card)) return { parts: [{ text: asText(params) }], ...metadata }
  if (!isMessage) return { parts: [dataPart(params)], ...metadata }
  const parts = [
    ...(typeof text === 'string' ? [{ text }] : []),
    ...(data === undefined ? [] : [dataPart(data)]),
  ]
  return { parts: parts.length > 0 ? parts : [dataPart(params)] }
}

/** The message with the id of the skill that its caller named, by id or by name. */
export function withSkillId(message: JsonObject, { card }: Pick<RemoteFacts, 'card'>): JsonObject {
  const { metadata } = message
  const named = isRecord(metadata) ? metadata.skillId : undefined
  const skill = typeof named === 'string' ? skillOf(card, named) : undefined
  if (typeof skill?.id !== 'string' || skill.id === named) return message
  return { ...message, metadata: { ...(metadata as JsonObject), skillId: skill.id } }
}

/** True for parts of a message of A2A 1.0: each has one content, and may have a file name, a media type and metadata. */
function areParts(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => isRecord(part) && isPart(part))
}

const contents = ['text', 'raw', 'url', 'data']
const besideContent = ['filename', 'mediaType', 'metadata']

function isPart(part: Record<string, unknown>): boolean {
  const names = Object.keys(part)
  const others = names.filter((name) => !contents.includes(name))
  return names.length - others.length === 1 && others.every((name) => besideContent.includes(name))
}

function dataPart(data: Json): JsonObject {
  return { data, mediaType: 'application/json' }
}

function asText(params: JsonObject): string {
  const values = Object.values(params)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only : JSON.stringify(params)
}

type LooseCard = Readonly<Record<string, unknown>>

function declares({ capabilities }: LooseCard, uri: string): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined
  return (
    Array.isArray(extensions) && extensions.some((extension) => isRecord(extension) && extension.uri === uri)
  )
}

function skillOf({ skills }: LooseCard, action: string): LooseCard | undefined {
  if (!Array.isArray(skills)) return undefined
  const all = skills.filter(isRecord)
  return all.find(({ id }) => id === action) ?? all.find(({ name }) => name === action)
}

/** An agent whose card states no input modes is assumed to read JSON. */
function readsJson(skill: LooseCard | undefined, card: LooseCard): boolean {
  const modes = [skill?.inputModes, card.defaultInputModes].find(
    (candidate) => Array.isArray(candidate) && candidate.length > 0,
  )
  if (!Array.isArray(modes)) return true
  return modes.some((mode) => typeof mode === 'string' && /^(application\/(.*\+)?json|\*\/\*)/i.test(mode))
}
