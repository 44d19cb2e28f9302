import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Gateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { importAll } from './gateway.ts'

export const Intent = z.object({
  kind: z.string(),
  text: z.string(),
  /** Patterns that all occur in the name, the package name or the description of a right agent. */
  right: z.array(z.string()).optional(),
  /** A pattern of the name or the package name of a right agent. */
  named: z.string().optional(),
  /** A pattern that a right agent does not have. */
  wrong: z.string().optional(),
})
export type Intent = z.infer<typeof Intent>
export const Request = z.object({ text: z.string(), served: z.boolean() })
const Answer = z.looseObject({
  agents: z.array(
    z.looseObject({
      name: z.string(),
      package_name: z.string(),
      description: z.string(),
      match: z.looseObject({ similarity: z.number().nullable(), scores: z.record(z.string(), z.number()) }),
    }),
  ),
  notice: z.string().optional(),
})
type Answer = z.infer<typeof Answer>
export type Agent = Answer['agents'][number]

const { signal } = new AbortController()

/** Imports the lists, and says how many of their lines were refused. */
export async function importLists(gateway: Gateway, paths: readonly string[]): Promise<void> {
  const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n').filter(Boolean))
  const rejected = await importAll(gateway, lines)
  process.stderr.write(`${lines.length} lines, of which ${rejected.length} were refused\n`)
}

export function isRight(
  { right = [], named, wrong }: Intent,
  { name, package_name, description }: Agent,
): boolean {
  const names = `${name}\n${package_name}`
  const text = `${names}\n${description}`
  if (wrong !== undefined && new RegExp(wrong, 'i').test(text)) return false
  if (named !== undefined && !new RegExp(named, 'i').test(names)) return false
  return right.every((pattern) => new RegExp(pattern, 'i').test(text))
}

export async function ask(to: Gateway, query: string): Promise<Answer> {
  const { output } = await to.dispatch(
    { to: 'svc.registry', action: 'search_agents', params: { query, limit: 10 } },
    { principal: localPrincipal, client: 'local', signal },
  )
  return Answer.parse(output)
}

/** The lines of a file beside this one. */
export function read<T>(file: string, type: z.ZodType<T>): T[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => type.parse(JSON.parse(line)))
}
