import { Failure } from '../../schemas/failure.ts'

/** The database does not answer. Whether a transaction was committed is unknown. */
export class UnreachableStore extends Failure {
  constructor(cause: unknown) {
    super('unavailable', 'The store cannot be reached.', { retry_after_s: 1 }, cause)
  }
}

/** The database refuses connections, or cannot be trusted: only its operator ends that. */
export class RefusingStore extends Failure {
  constructor(hint: string, cause: unknown) {
    super('not_configured', 'The store refuses the connection of the gateway.', { hint }, cause)
  }
}

/** The files of the database were replaced under a process that has them open: what it wrote would be lost. */
export class ReplacedStore extends Failure {
  constructor() {
    super('unavailable', 'The files of the store were replaced; the change was not written.', {
      hint: 'The operator starts the gateway again, and restores backups only while it is stopped (docs/backup.md).',
    })
  }
}

/** Why a database refuses every write, or the gateway itself. */
export type WriteRefusal = 'storage_full' | 'read_only' | 'store_replaced'

/** Receives what a store finds out about its database. */
export interface StoreObserver {
  /** After a transaction: why the database refuses writes; undefined after a commit. */
  readonly onWrite?: (refusal: WriteRefusal | undefined) => void
  /** After an unclean end: the damage that the check found, an empty list if there is none. */
  readonly onCheck?: (damage: readonly string[]) => void
  /** The entry of the thread for that check; without it, nothing is checked. */
  readonly check_worker?: URL
  /** When the database has answered, about once a second. */
  readonly onAnswer?: () => void
  /** The milliseconds by which the clock of the database is ahead of this process, about once a second. */
  readonly onClock?: (ahead: number) => void
  /** After an upgrade: the migrations that it ran. */
  readonly onMigrate?: (migrations: readonly string[]) => void
}
