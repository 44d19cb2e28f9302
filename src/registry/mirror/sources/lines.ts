import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { chunksOf } from '../../../common/chunks.ts'
import { readDocument } from '../../import/read-line.ts'
import { type AgentItem, readItems, readServerItem, type SourceItem } from '../source-items.ts'
import type { ReadSource } from './read-source.ts'
import type { MirrorSource, SourcePage } from './source.ts'

const maxFileBytes = 64 * 1024 * 1024
const pageLines = 100

/** A file of JSON lines: servers as MCP registries list them, A2A cards, or MCP servers as lists state them. */
export function createLinesSource(url: string, read: ReadSource): MirrorSource {
  return {
    knows_changes: false,
    resumes: false,
    async *pages({ signal }) {
      const { status, body } = await read(url, maxFileBytes, signal)
      if (status !== 200) {
        const { host } = new URL(url)
        throw new Failure('upstream_failed', `${host} answers ${status}.`, { upstream: { status } })
      }
      const lines = new TextDecoder()
        .decode(body)
        .split('\n')
        .filter((line) => line.trim())
      yield* pagesOf(lines, readJsonLine)
    },
  }
}

/** Pages of some values; the last one says so, even if there is none. */
function* pagesOf<Value>(
  values: readonly Value[],
  read: (value: Value) => SourceItem,
): Generator<SourcePage> {
  const chunks = [...chunksOf(values, pageLines)]
  for (const [index, chunk] of (chunks.length > 0 ? chunks : [[]]).entries()) {
    const { items, rejected } = readItems(chunk, (value) => read(value as Value))
    yield { items, rejected, next: index < chunks.length - 1 ? String(index) : null }
  }
}

/** Throws ZodError, Failure or SyntaxError. */
function readJsonLine(line: string): SourceItem {
  const document: unknown = JSON.parse(line)
  return isRecord(document) && isRecord(document.server) ? readServerItem(document) : agentOf(document)
}

/** The key is the name, with the source URL that tells agents of one name apart. */
function agentOf(document: unknown): AgentItem {
  const facts = readDocument(document)
  return { kind: 'agent', key: `${facts.package_name} ${facts.source_url}`, facts }
}
