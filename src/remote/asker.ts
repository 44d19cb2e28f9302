import { isRecord, type Json, type JsonObject } from '../../schemas/json.ts'
import { areSeveral } from '../../schemas/task.ts'

/**
 * A question whose words say who asks, as those of MCP servers do: the user must not take it for one of the gateway.
 * Data without words gets some.
 */
export function withAsker(agent: string, question: Json): Json {
  const introduction = `${agent} asks: `
  const named = (text: string) => (text.startsWith(introduction) ? text : `${introduction}${text}`)
  const words = named('See the data of this question.')
  if (question === null) return null
  if (typeof question === 'string') return named(question)
  if (!isRecord(question)) return { text: words, data: question }
  const fields = question as JsonObject
  if (Array.isArray(fields.parts)) return { ...fields, parts: withWords(fields.parts, named, words) }
  if (areSeveral(fields)) {
    const entries = Object.entries(fields)
    return Object.fromEntries(entries.map(([key, each]) => [key, withAsker(agent, each)]))
  }
  const { text = words, ...data } = fields
  return typeof text === 'string' ? { text: named(text), ...data } : { text: words, data: fields }
}

function withWords(parts: readonly Json[], named: (text: string) => string, words: string): readonly Json[] {
  const [first, ...rest] = parts
  if (!isRecord(first) || typeof first.text !== 'string') return [{ text: words }, ...parts]
  return [{ ...(first as JsonObject), text: named(first.text) }, ...rest]
}
