import type { Capability } from '../../../schemas/entry-parts.ts'
import type { ContentFlag } from '../../../schemas/trust.ts'

/**
 * Phrases that address a language model instead of describing an agent. Each pattern reads a bounded length, so
 * time is linear in the text. A flag only warns; no text is changed or left out.
 */
const rules: readonly (readonly [ContentFlag, RegExp])[] = [
  [
    'overrides_instructions',
    /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|earlier|above|preceding|system|other|all|your)\b.{0,30}\b(?:instruction|prompt|rule|guideline|direction|message|polic)/is,
  ],
  [
    'overrides_instructions',
    /\b(?:you are now|from now on,? you|new (?:system )?instructions?:|system prompt:|act as (?:an? )?(?:unrestricted|jailbroken))/i,
  ],
  [
    'conceals_from_user',
    /\b(?:do not|don't|never|without)\b.{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|show|showing|notify|notifying|alert|alerting|asking)\b.{0,30}\b(?:the )?(?:user|human|operator|person)\b/is,
  ],
  [
    'asks_for_secrets',
    /\b(?:send|include|pass|provide|read|share|forward|upload|append|attach|exfiltrate)\b.{0,60}(?:~\/\.ssh|id_rsa|\.env\b|\/etc\/passwd|\b(?:private key|system prompt|chat history|conversation history|entire conversation|environment variables|credentials of the user|user's (?:password|credentials|tokens?|api keys?)))/is,
  ],
  [
    'steers_tool_choice',
    /\b(?:always|must)\b.{0,20}\b(?:use|call|invoke|prefer|choose|select)\b.{0,20}\bthis\b.{0,20}\b(?:tool|agent|server|function)\b|\b(?:before|instead of)\b.{0,20}\b(?:using|calling|invoking)\b.{0,20}\b(?:any|all|every|other)\b.{0,10}\b(?:other )?(?:tool|agent|server|function)s?\b/is,
  ],
  [
    'imitates_markup',
    /<\/?(?:system|important|instructions?|secret|assistant|user|tool_call|function_calls?)\b[^>]{0,40}>|<\|[a-z_]{2,20}\|>|\[\/?(?:INST|SYS)\]|<!--/i,
  ],
]

interface Texts {
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly capabilities: readonly Capability[]
  /** Parts of the entry that callers receive unchanged. */
  readonly card?: Record<string, unknown> | null
  readonly deprecated?: { readonly message: string | null } | null
}

/** The warnings about an entry's texts for language models, each flag once, in the order of the rules. */
export function contentFlags({
  name,
  description,
  tags,
  capabilities,
  card,
  deprecated,
}: Texts): ContentFlag[] {
  return textFlags([name, description, tags, capabilities, card, deprecated?.message])
}

/** The warnings about the texts in a value, each flag once, in the order of the rules. */
export function textFlags(value: unknown): ContentFlag[] {
  const texts = textsIn(value)
  const raised = rules.filter(([, phrase]) => texts.some((text) => phrase.test(text)))
  return [...new Set(raised.map(([flag]) => flag))]
}

/** Every string and key at any depth, each once, normalised as a model reads it: NFKC, with single spaces. */
function textsIn(value: unknown): string[] {
  const texts = new Set<string>()
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') texts.add(next.normalize('NFKC').replace(/\s+/g, ' '))
    if (typeof next !== 'object' || next === null) continue
    for (const [key, member] of Object.entries(next)) left.push(member, Array.isArray(next) ? null : key)
  }
  return [...texts]
}
