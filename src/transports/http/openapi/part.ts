import { isRecord } from '../../../../schemas/json.ts'
import type { RouteTag } from '../route.ts'

/** The fields of an OpenAPI document by which a part of it is chosen. */
export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [field: string]: unknown
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, Response>>
  readonly [field: string]: unknown
}

interface Response {
  readonly links?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** The operations of a document that have one of the tags, with the components and links among them. */
export function partOf<Document extends OpenApi>(document: Document, tags: readonly RouteTag[]): Document {
  const chosen = new Set<string>(tags)
  const operations = pairsOf(document.paths).flatMap(([path, methods]) =>
    pairsOf(methods)
      .filter(([, operation]) => operation.tags.some((tag) => chosen.has(tag)))
      .map(([method, operation]) => ({ path, method, operation })),
  )
  const ids = new Set(operations.map(({ operation }) => operation.operationId))
  const paths = Object.fromEntries(
    [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]) => [
      path,
      Object.fromEntries(group.map(({ method, operation }) => [method, linkedAmong(ids, operation)])),
    ]),
  )
  return {
    ...document,
    tags: document.tags.filter(({ name }) => chosen.has(name)),
    paths,
    components: componentsOf(document.components, paths),
  }
}

/** The operation with only those links that lead to one of these operations; a link is named by its operation. */
function linkedAmong(ids: ReadonlySet<string>, operation: Operation): Operation {
  const responses = pairsOf(operation.responses).map(([status, { links, ...response }]) => {
    const left = pairsOf(links ?? {}).filter(([id]) => ids.has(id))
    return [status, { ...response, ...(left.length > 0 && { links: Object.fromEntries(left) }) }]
  })
  return { ...operation, responses: Object.fromEntries(responses) }
}

const prefix = '#/components/'

function componentsOf(components: OpenApi['components'], paths: OpenApi['paths']): OpenApi['components'] {
  const needed = new Set<string>()
  gather(paths, components, needed)
  // Operations name their security schemes without a reference.
  const isNeeded = (kind: string, name: string) =>
    kind === 'securitySchemes' || needed.has(`${prefix}${kind}/${name}`)
  return Object.fromEntries(
    pairsOf(components).map(([kind, members]) => [
      kind,
      Object.fromEntries(pairsOf(members).filter(([name]) => isNeeded(kind, name))),
    ]),
  )
}

/** Adds the references of a value, and those of the components that they lead to. */
function gather(value: unknown, components: OpenApi['components'], needed: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) gather(item, components, needed)
  if (!isRecord(value)) return
  for (const [key, inner] of Object.entries(value)) {
    if (key !== '$ref' || typeof inner !== 'string') gather(inner, components, needed)
    else if (!needed.has(inner)) {
      needed.add(inner)
      const [kind = '', name = ''] = inner.slice(prefix.length).split('/')
      gather(components[kind]?.[name], components, needed)
    }
  }
}

function pairsOf<Value>(values: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(values)
}
