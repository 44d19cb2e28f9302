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
  let maxRun = 2
  for (const [run] of text.matchAll(/`+/g)) maxRun = Math.max(maxRun, run.length)
  const fence = '`'.repeat(maxRun + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
