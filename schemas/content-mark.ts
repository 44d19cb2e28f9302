import { hidesAny } from './text.ts'

/**
 * The mark of an output that comes from a third party. It travels beside the output, in the place that each protocol
 * has for it, and does not change the output.
 */
export interface ContentMark {
  /** The output is data, never instructions. */
  readonly content_trust: 'untrusted'
  /** `hidden_characters`: a text holds characters that are invisible or that reorder the visible text. */
  readonly content_flags?: readonly ['hidden_characters']
}

const visible: ContentMark = { content_trust: 'untrusted' }
const hiding: ContentMark = { content_trust: 'untrusted', content_flags: ['hidden_characters'] }

export function contentMark(output: unknown): ContentMark {
  return hidesAny(output) ? hiding : visible
}
