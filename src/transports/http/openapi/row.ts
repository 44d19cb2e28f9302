import type { Action } from '../../../../schemas/action.ts'
import type { JsonSchema } from '../../../../schemas/json.ts'
import type { Route } from '../route.ts'

/** The fields of an action that a document shows. */
export interface Described
  extends Pick<Action, 'title' | 'description' | 'access' | 'effect' | 'part' | 'idempotency'> {
  readonly input: { readonly json: JsonSchema }
  readonly output: { readonly json: JsonSchema }
}

export interface Row {
  readonly route: Route
  readonly action: Described
}

/** A row under the path that it shares with other methods. */
export interface NamedRow extends Row {
  /** The path of the first row, such as `/api/agents/:packageName`; its parameter names replace the row's own. */
  readonly path: string
}

/** The path without parameter names: a server cannot tell apart two paths of the same shape. */
export function shapeOf(path: string): string {
  return path.replace(/:\w+/g, ':')
}

/** `PUT /api/agents/:id` → `putApiAgentsId`. */
export function operationIdOf({ method, path }: Route): string {
  return `${method}${path.replace(/[^A-Za-z0-9]+(.)?/g, (_, letter?: string) => (letter ?? '').toUpperCase())}`
}

/** The row's own parameter names and those of the shared path, by position. */
export function parameterNames({ route, path }: NamedRow): [own: string, shared: string][] {
  const own = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const shared = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return own.map((name, index) => [name, shared[index] ?? name])
}
