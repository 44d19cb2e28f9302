import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { SearchDocument } from '../../../src/search/search-index.ts'
import { documentOf } from './documents.ts'

const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url))

/** Real lists are beside the repository on some machines; on others, the tests that need them are skipped. */
export const haveRealEntries = existsSync(`${data}mcp-servers.jsonl`)

const Tool = z.object({ name: z.string(), description: z.string().nullish() })
const Server = z.object({
  packageName: z.string(),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  license: z.string().nullish(),
  runtime: z.string(),
  tools: z.array(Tool).default([]),
})
const AgentCard = z.object({
  name: z.string(),
  description: z.string().default(''),
  url: z.string().optional(),
  skills: z.array(Tool.extend({ tags: z.array(z.string()).nullish() })).default([]),
})

/** Every MCP server and A2A card of the real lists, with the names that the registry's import gives them. */
export function realEntries(): SearchDocument[] {
  const servers = readLines('mcp-servers.jsonl').map((line) => fromServer(Server.parse(line)))
  const cards = readLines('a2a-cards.jsonl').map((line) => fromCard(AgentCard.parse(line)))
  return [...servers, ...cards].map((entry, index) =>
    documentOf({
      ...entry,
      id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      created_at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    }),
  )
}

type Fields = Pick<
  SearchDocument,
  'package_name' | 'name' | 'description' | 'tags' | 'category' | 'license' | 'capabilities'
>

function fromServer(server: z.infer<typeof Server>): Fields {
  const prefix = { node: 'npm', python: 'pypi' }[server.runtime] ?? server.runtime
  return {
    package_name: slug(`${prefix}.${server.packageName.replace(/^@/, '')}`),
    name: server.name,
    description: server.description,
    tags: [],
    category: server.category,
    license: server.license?.toLowerCase() ?? null,
    capabilities: server.tools.map(capability),
  }
}

function fromCard(card: z.infer<typeof AgentCard>): Fields {
  const host = card.url && URL.canParse(card.url) ? new URL(card.url).hostname : 'example.com'
  return {
    package_name: `${host.split('.').reverse().join('.')}/${slug(card.name)}`,
    name: card.name,
    description: card.description,
    tags: [...new Set(card.skills.flatMap((skill) => skill.tags ?? []))].map((tag) => tag.toLowerCase()),
    category: null,
    license: null,
    capabilities: card.skills.map(capability),
  }
}

function capability({ name, description }: z.infer<typeof Tool>): { name: string; description: string } {
  return { name, description: description ?? '' }
}

function slug(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9._/-]+/g, '-')
}

function readLines(file: string): unknown[] {
  const lines = readFileSync(`${data}${file}`, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line))
}
