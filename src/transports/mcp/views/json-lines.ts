import { isRecord, type Json } from '../../../../schemas/json.ts'

/** Characters up to which a list or an object stays on one line, so that a row of a table is one. */
const maxLine = 200

/** A JSON value as text in lines without indentation: what is longer than a line has a line for each member. */
export function jsonLines(value: Json): string {
  if (Array.isArray(value)) return inLines('[', value.map(jsonLines), ']')
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${jsonLines(member)}`,
  )
  return inLines('{', members, '}')
}

function inLines(open: string, members: readonly string[], close: string): string {
  const length = members.reduce((sum, member) => sum + member.length + 1, 1)
  const isLine = length <= maxLine && members.every((member) => !member.includes('\n'))
  return isLine ? `${open}${members.join()}${close}` : `${open}\n${members.join(',\n')}\n${close}`
}
