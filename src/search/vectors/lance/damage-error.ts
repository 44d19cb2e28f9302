/** What was read is not what was written. */
export class DamageError extends Error {
  override readonly name = 'Damage'
}
