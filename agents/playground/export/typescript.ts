import { toAscii } from '../../../src/common/ascii.ts'
import { type ExportPlan, executionOf, type Planned } from './plan.ts'

/** A TypeScript file for `node FILE` that makes the calls one after the other and prints each answer as a line of JSON. */
export function toTypeScript({ base_url, calls }: ExportPlan): string {
  const needs = new Set(calls.map(({ as }) => as))
  return [
    '// The calls of a Dragoman playground session, one answer per line.',
    "import { env } from 'node:process'",
    '',
    `const url = env.DRAGOMAN_URL || ${toAscii(base_url)}`,
    ...(needs.has('token') ? tokenNeeded : []),
    '',
    post,
    ...(needs.has('session') ? newSession : []),
    ...calls.map(statement),
  ].join('\n')
}

const tokenNeeded = [
  'const token = env.DRAGOMAN_TOKEN',
  "if (!token) throw new Error('Set DRAGOMAN_TOKEN to a token of the gateway.')",
]

const post = `async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return await answer.json()
}
`

const newSession = [
  "const { id } = (await post('/api/playground/session', {})) as { id: string }",
  "const session = '/api/playground/session/' + id + '/execute'",
  '',
]

/** JSON is a valid object literal except for the key `__proto__`, which the router refuses. */
function statement({ as, envelope }: Planned): string {
  const path = as === 'session' ? 'session' : "'/a2a/message'"
  const body = toAscii(as === 'session' ? executionOf(envelope) : envelope)
  const headers = as === 'token' ? ", { Authorization: 'Bearer ' + token }" : ''
  return `console.log(JSON.stringify(await post(${path}, ${body}${headers})))\n`
}
