import { type NamedRow, operationIdOf, parameterNames } from './row.ts'

/** OpenAPI's Link Objects: what the `id` of an answer is good for next. */
export function linksFrom({ route }: NamedRow, all: readonly NamedRow[]): Record<string, unknown> {
  const field = route.gives ?? (route.entry && 'agent')
  if (!field) return {}
  return Object.fromEntries(
    all.flatMap((target) => {
      const named = parameterNames(target).find(([own]) => target.route.parameters?.[own] === field)
      if (!named || target.route === route || target.route.to !== route.to) return []
      const [, name] = named
      const operationId = operationIdOf(target.route)
      const parameters = {
        [name]: '$response.body#/id',
        ...(route.entry && target.route.conditional && { 'header.If-Match': '$response.header.ETag' }),
      }
      return [[operationId, { operationId, parameters }] as const]
    }),
  )
}
