import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OfficialRegistry, OfficialRow, ServerJson } from '../../support/official-registry.ts'

const file = resolve(import.meta.dirname, '../../../../shared/data/official.jsonl')

/** Documents that people published; none where the file is absent. */
export function publishedDocuments(): ServerJson[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as OfficialRow).server)
}

const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
const versions = ['1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1']

/** So many documents, of which every fifth is a further version of the one before it. */
export function madeDocuments(count: number): ServerJson[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index - (index % 5)
    const name = `example.made${number % 97}/server-${number + (index % 5 === 4 ? 3 : index % 5)}`
    const version = index % 5 === 4 ? '1.10.0' : (versions[number % versions.length] ?? '1.0.0')
    return document(name, version === '1.10.0' && index % 5 !== 4 ? '1.2.0' : version, index)
  })
}

function document(name: string, version: string, number: number): ServerJson {
  const common = {
    $schema: schema,
    name,
    version,
    description: `Made server ${number}: it reads the ${topics[number % topics.length]} of a company.`,
  }
  const key = { name: 'API_KEY', description: 'Key of the service.', isRequired: true, isSecret: true }
  if (number % 3 === 0) {
    return {
      ...common,
      remotes: [{ type: 'streamable-http', url: `https://${slug(name)}.made.example/mcp` }],
    }
  }
  return {
    ...common,
    title: `Made ${number}`,
    packages: [
      {
        registryType: number % 2 ? 'npm' : 'pypi',
        identifier: slug(name),
        version: '1.0.0',
        transport: { type: 'stdio' },
        environmentVariables: [key],
      },
    ],
  }
}

function slug(name: string): string {
  return name.replace(/[^a-z0-9]+/g, '-')
}

const topics = ['invoices', 'calendars', 'weather reports', 'log files', 'contracts', 'images', 'parcels']

/**
 * What happens in a registry between two runs of a mirror: new versions and edited documents, half of `changes` each,
 * deletions and changes of status, spread over all rows.
 */
export async function applyChanges(
  registry: OfficialRegistry,
  { changes, deletions, statuses }: { changes: number; deletions: number; statuses: number },
): Promise<void> {
  const all = (await readAll(registry.url)).filter(({ server }) => server.name.startsWith('example.made'))
  // One version of each name: two of them would be published under the same new version.
  const rows = [...new Map(all.map((row) => [row.server.name, row])).values()]
  const step = Math.floor(rows.length / (changes + deletions + statuses))
  if (step === 0) throw new Error('It holds too few rows for so many changes.')
  const chosen = rows.filter((_, index) => index % step === 0)
  for (const { server } of chosen.slice(0, changes / 2)) {
    await registry.publish({ ...server, version: '3.0.0', description: 'A new version.' })
  }
  for (const { server } of chosen.slice(changes / 2, changes)) {
    await registry.edit({ ...server, description: 'An edited text.' })
  }
  for (const { server } of chosen.slice(changes, changes + deletions)) {
    await registry.setStatus(server.name, server.version, 'deleted', 'It was spam.')
  }
  for (const { server } of chosen.slice(changes + deletions, changes + deletions + statuses)) {
    await registry.setStatus(server.name, server.version, 'deprecated', 'Use another one.')
  }
}

/** Every row that a registry lists, deleted ones included. */
export async function readAll(url: string): Promise<OfficialRow[]> {
  const rows: OfficialRow[] = []
  let cursor = ''
  do {
    const answer = await fetch(
      `${url}/v0.1/servers?limit=100&include_deleted=true&cursor=${encodeURIComponent(cursor)}`,
    )
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    const page = (await answer.json()) as { servers: OfficialRow[]; metadata: { nextCursor?: string } }
    rows.push(...page.servers)
    cursor = page.metadata.nextCursor ?? ''
  } while (cursor)
  return rows
}
