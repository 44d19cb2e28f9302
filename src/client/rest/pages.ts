import type { Client } from 'openapi-fetch'
import type {
  AgentPage,
  AgentVersion,
  AuditEvent,
  BriefAgentPage,
  Change,
  ChangePage,
  paths,
  SearchHit,
  TransferOffer,
} from './schema.ts'

type Query<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Parameters } }
}
  ? NonNullable<Parameters>
  : never

type AnySearchQuery = Query<'/public/agents'>
type SearchQuery = Omit<AnySearchQuery, 'detail' | 'facets'>
type Detail = NonNullable<AnySearchQuery['detail']>

/** A page of a search, and lists without their pages: each iterator asks for the next page when it needs it. */
export interface Pages {
  /** One page of the agents that a search finds, in the form that `detail` asks for. */
  search<Form extends Detail = 'full'>(
    query?: Omit<AnySearchQuery, 'detail'> & { readonly detail?: Form },
    signal?: AbortSignal,
  ): Promise<Form extends 'brief' ? BriefAgentPage : AgentPage>
  /** The agents that a search finds. */
  searchAll(query?: SearchQuery, signal?: AbortSignal): AsyncGenerator<SearchHit>
  versionsAll(agent: string, signal?: AbortSignal): AsyncGenerator<AgentVersion>
  auditAll(agent: string, signal?: AbortSignal): AsyncGenerator<AuditEvent>
  transfersAll(
    query?: Omit<Query<'/api/transfers'>, 'cursor'>,
    signal?: AbortSignal,
  ): AsyncGenerator<TransferOffer>
  /** The changes after a revision, until there are no further ones for now. */
  changesAll(query?: Query<'/public/changes'>, signal?: AbortSignal): AsyncGenerator<Change>
}

interface Page<Item, Cursor> {
  readonly items: readonly Item[]
  /** Undefined after the last page. */
  readonly next: Cursor | undefined
}

export function pagesOf(client: Client<paths>): Pages {
  return {
    async search(query = {}, signal) {
      const { data } = await client.GET('/public/agents', { params: { query }, ...during(signal) })
      return data as never
    },
    searchAll: (query = {}, signal) =>
      itemsOf(query.cursor, async (cursor) => {
        const search = { ...query, ...(cursor !== undefined && { cursor }) }
        const { data } = await client.GET('/public/agents', { params: { query: search }, ...during(signal) })
        return { items: (data?.agents ?? []) as SearchHit[], next: data?.next_cursor ?? undefined }
      }),
    versionsAll: (agent, signal) =>
      itemsOf(undefined, async (cursor: string | undefined) => {
        const params = { path: { agent }, ...at(cursor) }
        const { data } = await client.GET('/api/agents/{agent}/versions', { params, ...during(signal) })
        return { items: data?.versions ?? [], next: data?.next_cursor ?? undefined }
      }),
    auditAll: (agent, signal) =>
      itemsOf(undefined, async (cursor: string | undefined) => {
        const params = { path: { agent }, ...at(cursor) }
        const { data } = await client.GET('/api/agents/{agent}/audit', { params, ...during(signal) })
        return { items: data?.events ?? [], next: data?.next_cursor ?? undefined }
      }),
    transfersAll: (query = {}, signal) =>
      itemsOf(undefined, async (cursor: string | undefined) => {
        const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } }
        const { data } = await client.GET('/api/transfers', { params, ...during(signal) })
        return { items: data?.offers ?? [], next: data?.next_cursor ?? undefined }
      }),
    changesAll: (query = {}, signal) =>
      itemsOf(query.since, async (since) => {
        const params = { query: { ...query, ...(since !== undefined && { since }) } }
        const { data } = await client.GET('/public/changes', { params, ...during(signal) })
        const page = data as ChangePage
        return { items: page.changes, next: page.more ? page.next_since : undefined }
      }),
  }
}

function at(cursor: string | undefined) {
  return cursor === undefined ? {} : { query: { cursor } }
}

function during(signal: AbortSignal | undefined) {
  return signal ? { signal } : {}
}

async function* itemsOf<Item, Cursor>(
  first: Cursor | undefined,
  read: (cursor: Cursor | undefined) => Promise<Page<Item, Cursor>>,
): AsyncGenerator<Item> {
  let cursor = first
  do {
    const { items, next } = await read(cursor)
    yield* items
    cursor = next
  } while (cursor !== undefined)
}
