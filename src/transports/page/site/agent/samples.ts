import type { Capability } from '../../../../../schemas/entry-parts.ts'
import { isRecord } from '../../../../../schemas/json.ts'
import { quote, toAscii } from '../../../../common/ascii.ts'

/** A call of a capability, written in one language. */
interface Sample {
  readonly id: string
  readonly label: string
  readonly text: string
}

/** Fields of an input that a sample fills in. */
const maxFields = 8
/** Characters of a value in a sample. */
const maxCharacters = 300

/** A call in each language that callers write; values that the caller has to know are placeholders. */
export function samplesOf(base: string, agent: string, capability: Capability): Sample[] {
  const call = { to: agent, action: capability.name, params: sampleInput(capability.input_schema) }
  return writers.map(({ write, ...sample }) => ({ ...sample, text: write(base, call) }))
}

interface Call {
  readonly to: string
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Where a program finds its token. */
const variable = ['process', 'env', 'DRAGOMAN_TOKEN'].join('.')

const writers: readonly {
  readonly id: string
  readonly label: string
  readonly write: (base: string, call: Call) => string
}[] = [
  {
    id: 'curl',
    label: 'curl',
    write: (base, call) => `curl ${quote(`${base}/a2a/message`)} \\
  -H "Authorization: Bearer $DRAGOMAN_TOKEN" \\
  -H 'Content-Type: application/json' \\
  --data-raw ${quote(toAscii(call, 2))}`,
  },
  {
    id: 'typescript',
    label: 'TypeScript',
    write: (base, call) => `const answer = await fetch(${toAscii(`${base}/a2a/message`)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${${variable}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indented(toAscii(call, 2))}),
})
console.log(await answer.json())`,
  },
  {
    id: 'python',
    label: 'Python',
    write: (base, call) => `import json, os, urllib.request

request = urllib.request.Request(
    ${toAscii(`${base}/a2a/message`)},
    json.dumps(${pythonOf(call)}).encode(),
    {
        "Authorization": "Bearer " + os.environ["DRAGOMAN_TOKEN"],
        "Content-Type": "application/json",
    },
)
print(json.load(urllib.request.urlopen(request)))`,
  },
  {
    id: 'mcp',
    label: 'MCP',
    write: (_, { to, action, params }) =>
      toAscii(
        { method: 'tools/call', params: { name: 'call_agent', arguments: { agent: to, action, params } } },
        2,
      ),
  },
]

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

/** A Python literal. A JSON string is one, but for characters beyond 16 bits. */
function pythonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (isRecord(value)) {
    const members = Object.entries(value).map(([name, member]) => `${pythonOf(name)}: ${pythonOf(member)}`)
    return `{${members.join(', ')}}`
  }
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return toAscii(value).replace(/\\u(d[89ab]\w\w)\\u(d[c-f]\w\w)/g, (_, high: string, low: string) => {
    const point = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0
    return `\\U${point.toString(16).padStart(8, '0')}`
  })
}

/** What a capability needs, with an example of each value. */
function sampleInput(schema: Capability['input_schema'] = {}): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  // In a program `__proto__` would not be a member.
  const names = Object.keys(properties).filter((name) => name !== '__proto__')
  const needed = names.filter((name) => required.includes(name))
  const shown = needed.length > 0 ? needed : names.slice(0, 1)
  return Object.fromEntries(shown.slice(0, maxFields).map((name) => [name, exampleOf(properties[name])]))
}

const byFormat: ReadonlyMap<unknown, string> = new Map([
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['email', 'name@example.com'],
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
])

function exampleOf(schema: unknown): unknown {
  if (!isRecord(schema)) return '...'
  const { examples, default: usual, enum: choices, const: only, type, format, minimum } = schema
  const stated = [Array.isArray(examples) ? examples[0] : undefined, usual, only]
  const example = [...stated, Array.isArray(choices) ? choices[0] : undefined].find(
    (value) => value !== undefined && JSON.stringify(value).length <= maxCharacters,
  )
  if (example !== undefined) return example
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  if (type === 'object') return {}
  return byFormat.get(format) ?? '...'
}
