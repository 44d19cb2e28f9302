import { dayMilliseconds } from '../../common/days.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Person } from '../logins/login.ts'
import type { Records } from './records.ts'

/** The people who have signed in here. */
export interface Accounts {
  /** Stores what a login proved; returns the id of the account. */
  put(person: Person): Promise<string>
  find(id: string): Promise<Person | undefined>
}

/** Longer than the longest grant, which begins in a session of this account. */
const lifeMilliseconds = 120 * dayMilliseconds

export function createAccounts(records: Records, clock: () => number): Accounts {
  return {
    async put(person) {
      const id = principalKey(person)
      await records.put('Account', id, person, { owner: id, expires_at: clock() + lifeMilliseconds })
      return id
    },
    async find(id) {
      return (await records.find<Person>('Account', id))?.document
    },
  }
}
