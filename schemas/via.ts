const gateway = 'dragoman'
const member = /^\s*1\.1\s+dragoman(?:\s+\(([a-z0-9._/-]{1,220})\))?\s*$/
const maxLength = 8192

/**
 * The header `Via` (RFC 9110, 7.6.3) of a call to another agent: one member for each gateway that the call passed,
 * with the called agent as its comment.
 */
export function viaOf(agents: readonly string[]): string {
  return agents.map((agent) => (agent === '' ? `1.1 ${gateway}` : `1.1 ${gateway} (${agent})`)).join(', ')
}

/** The agents that a call has passed, from its `Via`; '' if a proxy dropped the comment. */
export function passedAgents(via: string): string[] {
  const members = via
    .slice(0, maxLength)
    .split(',')
    .map((text) => member.exec(text))
  return members.flatMap((match) => (match ? [match[1] ?? ''] : []))
}
