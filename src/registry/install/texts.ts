import { isRecord } from '../../../schemas/json.ts'

type Data = Readonly<Record<string, unknown>>

/** TOML of one table and its tables. Keys are quoted where they have to be; a JSON string is a TOML string. */
export function tomlTable(path: readonly string[], table: Data): string {
  const own = Object.entries(table).filter(([, value]) => !isRecord(value))
  const tables = Object.entries(table).filter((entry): entry is [string, Data] => isRecord(entry[1]))
  const lines = own.map(([name, value]) => `${tomlKey(name)} = ${flow(value)}\n`)
  const inner = tables.map(([name, value]) => `\n${tomlTable([...path, name], value)}`)
  return `[${path.map(tomlKey).join('.')}]\n${lines.join('')}${inner.join('')}`
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : flow(name)
}

/** YAML of a member of a mapping, indented by two: each value in the JSON that YAML 1.2 takes. */
export function yamlMember(name: string, members: Data): string {
  const lines = Object.entries(members).map(([key, value]) => `    ${key}: ${flow(value)}\n`)
  return `  ${yamlKey(name)}:\n${lines.join('')}`
}

/** Numbers, `true`, `null` and their like are no texts without quotes. */
function yamlKey(name: string): string {
  const isText =
    /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !/^(?:true|false|yes|no|on|off|y|n|null)$/i.test(name)
  return isText ? name : flow(name)
}

/** JSON on one line, with spaces after commas and colons; `{a: 1}` needs them in YAML. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${flow(member)}`)
  return `{${members.join(', ')}}`
}
