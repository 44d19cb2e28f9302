/** A row of the authorization server: a session, a code, a token, a grant, a client. It holds hashes of secrets only. */
export interface SignInRow {
  /** Hash of the kind and the secret or name. */
  readonly id: string
  readonly kind: string
  /** A second name of the row, hashed: the code that a user types. */
  readonly alias: string | null
  /** The grant that the row belongs to, with which it ends. */
  readonly grant_id: string | null
  /** The principal key of the person. */
  readonly owner: string | null
  /** JSON. */
  readonly document: string
  /** Milliseconds since the epoch; null until then. */
  readonly consumed_at: number | null
  readonly expires_at: number
}

/** Stores the rows of the authorization server. Reads find no expired row; `now` in milliseconds since the epoch. */
export interface SignInStore {
  /** Adds or replaces a row; a row that was consumed stays consumed. */
  put(row: SignInRow): Promise<void>
  find(id: string, now: number): Promise<SignInRow | undefined>
  findByAlias(kind: string, alias: string, now: number): Promise<SignInRow | undefined>
  /** Marks the row as used. False if it was used before, by any process, or is not there. */
  consume(id: string, now: number): Promise<boolean>
  extend(id: string, expires_at: number): Promise<void>
  remove(id: string): Promise<void>
  removeGrant(grant_id: string): Promise<void>
  /** Removes the sessions, grants and tokens of a person. */
  removeOwner(owner: string): Promise<void>
  /** Removes rows of a kind that expire before then. */
  removeExpiring(kind: string, before: number): Promise<void>
  count(kind: string, now: number): Promise<number>
}
