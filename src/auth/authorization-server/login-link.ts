import { localPersonId } from '../../../schemas/identity.ts'
import type { SignInStore } from '../../../schemas/sign-in.ts'
import type { Person } from '../logins/login.ts'
import { recordId } from './records.ts'

type LinkStore = Pick<SignInStore, 'put' | 'consume'>

const kind = 'LoginLink'
const lifeMilliseconds = 600_000

/** The person at the machine that the gateway runs on. */
export const localPerson: Person = {
  ...localPersonId,
  name: 'You, on this machine',
  namespaces: [],
}

/** A code with which a browser signs in once as the local person, within ten minutes. */
export async function createLoginLink(
  store: LinkStore,
  clock: () => number,
  random: (bytes: number) => Uint8Array,
): Promise<string> {
  const code = Buffer.from(random(32)).toString('base64url')
  await store.put({
    id: recordId(kind, code),
    kind,
    alias: null,
    grant_id: null,
    owner: null,
    document: '{}',
    consumed_at: null,
    expires_at: clock() + lifeMilliseconds,
  })
  return code
}

/** True for the first caller with a valid code. */
export async function consumeLoginLink(
  store: LinkStore,
  clock: () => number,
  code: string,
): Promise<boolean> {
  return await store.consume(recordId(kind, code), clock())
}
