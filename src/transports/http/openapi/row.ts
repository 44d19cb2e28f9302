import type { Action } from '../../../../schemas/action.ts'
import type { Shape } from '../../../../schemas/shape.ts'
import type { Route } from '../route.ts'
import type { HeaderName } from './headers.ts'

/** The fields of an action that a document shows. */
export interface Described
  extends Pick<Action, 'title' | 'description' | 'access' | 'effect' | 'part' | 'idempotency'> {
  readonly input: Pick<Shape<unknown>, 'json' | 'named'>
  readonly output: Pick<Shape<unknown>, 'json' | 'named'>
}

export interface Row {
  readonly route: Route
  readonly action: Described
  /** Headers of the answer in addition to those that the route has. */
  readonly headers?: readonly HeaderName[]
}
