import type { Reading } from '../port.ts'

export const noMetadata = {
  title: null,
  byline: null,
  site_name: null,
  published: null,
  language: null,
  excerpt: null,
  confidence: null,
}

/** Unchanged text. */
export function verbatim(content: string): Reading {
  const empty_reason = content.trim() === '' ? 'no_text' : null
  return { ...noMetadata, content, extractor: 'verbatim', empty_reason, warnings: [] }
}

/** Text in a fence longer than any run of backticks inside. */
export function fenced(text: string, language: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
