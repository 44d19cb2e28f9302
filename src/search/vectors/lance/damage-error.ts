/** What was read is not what was written. */
export class Damage extends Error {
  override readonly name = 'Damage'
}
