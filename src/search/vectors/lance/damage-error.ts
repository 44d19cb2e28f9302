/** Data on disk differs from what was written. */
export class DamageError extends Error {
  override readonly name = 'Damage'
}
