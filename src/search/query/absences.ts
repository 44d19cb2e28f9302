import { analyse } from './analyse.ts'

const word = String.raw`[\p{L}\p{N}][\p{L}\p{N}\-]{0,40}`
const required = String.raw`(?=(?:\s+${word}){1,4}\s+(?:is\s+|are\s+)?(?:required|needed|necessary)\b)`
/** "Without" before what is no activity: who works "without leaving Slack" has Slack. */
const absence = new RegExp(
  String.raw`\b(?:without(?:\s+(?:requiring|needing|(?:the\s+)?need\s+for))?(?!\s+${word}ing\b)|no${required}|(?:not|n['’]t)\s+(?:require|need))\s+(?:(?:an?|any|the|your)\s+)?(${word}(?:\s+${word})?(?:,?\s+(?:or|and|nor)\s+${word}(?:\s+${word})?)?)`,
  'giu',
)
const mayHave = /\b(?:without|no|not)\b|n['’]t\b/i

/** What a text says that it does without, each as a term that no word equals: "no API key required" is `-api`, `-key`. */
export function absencesOf(text: string): Set<string> {
  const found = new Set<string>()
  if (!mayHave.test(text)) return found
  for (const [, absent = ''] of text.matchAll(absence))
    analyse(absent, (term, _, boilerplate) => {
      if (!boilerplate) found.add(absenceOf(term))
    })
  return found
}

export function absenceOf(term: string): string {
  return `-${term}`
}
