import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { listedActions, registryExtension } from '../../../schemas/names.ts'
import type { Part } from '../../../schemas/task.ts'
import type { RemoteFacts } from '../remote-agent.ts'

/** A call as an A2A message says it: its parts, and the id of the skill that is meant. */
export interface Said {
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
}

/**
 * An action and its params as parts. To a gateway of ours: `{action, params}` as data. To others: params as data where
 * the skill reads JSON, except that `text` alone goes as text; and as text where it reads text alone: the one text that
 * they hold, else their JSON.
 */
export function say(action: string, params: JsonObject, { card }: Pick<RemoteFacts, 'card'>): Said {
  if (declares(card, registryExtension)) return { parts: [dataPart({ action, params })] }
  const skill = skillOf(card, action)
  const metadata = skill && typeof skill.id === 'string' ? { metadata: { skillId: skill.id } } : {}
  const { text, ...rest } = params
  if (typeof text === 'string' && Object.keys(rest).length === 0) return { parts: [{ text }], ...metadata }
  if (!readsJson(skill, card)) return { parts: [{ text: inWords(params) }], ...metadata }
  if (action !== listedActions.message) return { parts: [dataPart(params)], ...metadata }
  const { data } = params
  const parts = [
    ...(typeof text === 'string' ? [{ text }] : []),
    ...(data === undefined ? [] : [dataPart(data)]),
  ]
  return { parts: parts.length > 0 ? parts : [dataPart(params)] }
}

function dataPart(data: Json): Part {
  return { data, mediaType: 'application/json' }
}

function inWords(params: JsonObject): string {
  const values = Object.values(params)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only : JSON.stringify(params)
}

type Loose = Readonly<Record<string, unknown>>

function declares({ capabilities }: Loose, uri: string): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined
  return Array.isArray(extensions) && extensions.some((one) => isRecord(one) && one.uri === uri)
}

function skillOf({ skills }: Loose, action: string): Loose | undefined {
  if (!Array.isArray(skills)) return undefined
  return skills.filter(isRecord).find(({ name, id }) => name === action || id === action)
}

/** A card that does not say reads JSON as well as anything. */
function readsJson(skill: Loose | undefined, card: Loose): boolean {
  const modes = [skill?.inputModes, card.defaultInputModes].find(
    (one) => Array.isArray(one) && one.length > 0,
  )
  if (!Array.isArray(modes)) return true
  return modes.some((mode) => typeof mode === 'string' && /^(application\/(.*\+)?json|\*\/\*)/i.test(mode))
}
