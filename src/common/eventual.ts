/** A value that is there, or a promise of it: where most values are there, promises would cost more than the work. */
export type Eventual<Value> = Value | Promise<Value>

/** Goes on with the value at once if it is there. */
export function withValue<Value, Result>(
  value: Eventual<Value>,
  use: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}
