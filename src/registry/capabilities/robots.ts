interface Rule {
  readonly allows: boolean
  readonly pattern: string
}

const maxLines = 2_000
const maxPatternLength = 500

/**
 * True if a robots.txt (RFC 9309) allows this agent to ask for a path: the longest matching rule decides, of the group
 * that names the agent, else of the group of all agents.
 */
export function allows(robots: string, agent: string, path: string): boolean {
  const groups = groupsIn(robots)
  const rules = groups.get(agent.toLowerCase()) ?? groups.get('*') ?? []
  const matching = rules.filter(({ pattern }) => pattern !== '' && matches(path, pattern))
  const longest = matching.reduce((length, { pattern }) => Math.max(length, pattern.length), 0)
  const deciding = matching.filter(({ pattern }) => pattern.length === longest)
  return deciding.length === 0 || deciding.some((rule) => rule.allows)
}

/** The rules by the names of agents, in lower case. */
function groupsIn(robots: string): Map<string, Rule[]> {
  const groups = new Map<string, Rule[]>()
  let names: string[] = []
  let isNaming = false
  for (const line of robots.split(/\r\n|\r|\n/, maxLines)) {
    const [field = '', ...rest] = (line.split('#')[0] ?? '').split(':')
    const value = rest.join(':').trim()
    const name = field.trim().toLowerCase()
    if (name === 'user-agent') {
      // Consecutive names share the rules that follow.
      names = isNaming ? [...names, value.toLowerCase()] : [value.toLowerCase()]
      for (const agent of names) if (!groups.has(agent)) groups.set(agent, [])
      isNaming = true
    }
    if (name !== 'allow' && name !== 'disallow') continue
    isNaming = false
    const rule = { allows: name === 'allow', pattern: value.slice(0, maxPatternLength) }
    for (const agent of names) groups.get(agent)?.push(rule)
  }
  return groups
}

/** `*` stands for any characters, and `$` at the end for the end of the path. */
function matches(path: string, pattern: string): boolean {
  const isWhole = pattern.endsWith('$')
  const [start = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(start)) return false
  const last = parts.pop()
  if (last === undefined) return !isWhole || path.length === start.length
  let at = start.length
  for (const part of parts) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return isWhole ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) >= 0
}
