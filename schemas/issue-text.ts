import type { z } from 'zod'

/** Messages that zod makes itself; a schema with a message of its own says better what is wrong. */
const standardMessage = /^(Invalid|Too (big|small)|Unrecognized)/

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
}

/** What is wrong with a value and what to give instead, in the words of the one who gave it. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (!standardMessage.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return `Give ${kinds[issue.expected] ?? `a value of type ${issue.expected}`}.`
    case 'invalid_value':
      return `Give ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}.`
    case 'too_small':
      return `Give ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}.`
    case 'too_big':
      return `Give ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}.`
    case 'invalid_format':
      return issue.format === 'url' ? 'Give a URL.' : 'Give a text of the right form.'
    case 'unrecognized_keys':
      return `There is no field ${issue.keys.join(', ')}.`
    case 'invalid_union':
      return 'Give one of the forms that the schema allows.'
    default:
      return 'This value is not allowed here.'
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' || origin === 'set' ? ' items' : ''
}
