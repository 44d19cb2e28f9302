import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { RetrievalSet } from './sets.ts'

const Server = z.object({
  name: z.string(),
  description: z.string(),
  tools: z.array(z.object({ name: z.string(), description: z.string().default('') })).default([]),
})
const shortest = 20

/**
 * Measures the benefit of indexing capabilities on a list of MCP servers. Of each server with tools, one tool is held
 * out and its description is the query for the server. Two sets: with the other tools as capabilities, and with
 * entries alone.
 */
export function heldOut(path: string): RetrievalSet[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const servers = lines.map((line) => Server.parse(JSON.parse(line)))
  const split = servers.map(({ tools, ...server }, at) => {
    const telling = tools.filter(({ description }) => description.length >= shortest)
    const heldOutTool = telling[(at * 7919) % Math.max(1, telling.length)]
    return { ...server, heldOutTool, rest: tools.filter((tool) => tool !== heldOutTool) }
  })
  const ids = split.map((_, at) => String(at))
  const questions = split.flatMap(({ heldOutTool }, at) =>
    heldOutTool
      ? [{ id: String(at), text: heldOutTool.description, relevant: new Map([[String(at), 1]]) }]
      : [],
  )
  const setOf = (name: string, withTools: boolean): RetrievalSet => ({
    name,
    ids,
    questions,
    cards: split.map(({ name: called, description, rest }, at) => ({
      name: called.slice(0, 200),
      description,
      url: `https://example.com/${at}`,
      capabilities: withTools ? rest.map((tool) => ({ ...tool, name: tool.name.slice(0, 200) })) : [],
    })),
  })
  return [setOf('held-out tools, capabilities indexed', true), setOf('held-out tools, entries alone', false)]
}
