import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../json.ts'

/**
 * True for a text that says only what the structured content says: its JSON (2025-06-18, Tools, Structured Content), or,
 * if a server wraps a value as `{result}`, the value as text or as JSON. An empty text says nothing.
 */
export function repeatsStructured(text: string, structured: unknown): boolean {
  if (text.trim() === '') return true
  const keys = isRecord(structured) ? Object.keys(structured) : []
  const wrapped = isRecord(structured) && keys.length === 1 ? structured.result : undefined
  if (wrapped !== undefined && text === wrapped) return true
  try {
    const value: unknown = JSON.parse(text)
    return (
      isDeepStrictEqual(value, structured) || (wrapped !== undefined && isDeepStrictEqual(value, wrapped))
    )
  } catch {
    return false
  }
}
