import { quote, toAscii } from '../../../src/common/ascii.ts'
import { type ExportPlan, executionOf, type Planned } from './plan.ts'

/** A bash script that makes the calls one after the other and prints each answer on its own line. */
export function toCurl({ base_url, calls }: ExportPlan): string {
  const needs = new Set(calls.map(({ as }) => as))
  return [
    '#!/usr/bin/env bash',
    '# The calls of a Dragoman playground session, one answer per line.',
    'set -euo pipefail',
    `url=\${DRAGOMAN_URL:-${quote(base_url)}}`,
    ...(needs.has('token') ? [`: "\${DRAGOMAN_TOKEN:?Set it to a token of the gateway.}"`] : []),
    ...(needs.has('session') ? newSession : []),
    ...calls.map(command),
    '',
  ].join('\n')
}

const newSession = [
  'session=$(curl -sS -X POST "$url/api/playground/session" | sed -n \'s/.*"id":"\\([0-9a-f]*\\)".*/\\1/p\')',
  `: "\${session:?The gateway makes no session.}"`,
]

function command({ as, envelope }: Planned): string {
  const path = as === 'session' ? '/api/playground/session/$session/execute' : '/a2a/message'
  const body = as === 'session' ? executionOf(envelope) : envelope
  const token = as === 'token' ? ' -H "Authorization: Bearer $DRAGOMAN_TOKEN"' : ''
  return [
    '',
    `curl -sS -w '\\n' "$url${path}"${token} -H 'Content-Type: application/json' \\`,
    `  --data-raw ${quote(toAscii(body))}`,
  ].join('\n')
}
