import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EntryDetail } from '../../schemas/card.ts'
import type {
  Credential,
  CredentialInput,
  CredentialStore,
  SignInFacts,
  StoredCredential,
  StoredVariables,
} from '../../schemas/credential.ts'
import { Failure } from '../../schemas/failure.ts'
import { isPackageUrl } from '../../schemas/package.ts'
import type { Principal } from '../../schemas/scope.ts'
import { monotonic } from '../common/clock.ts'
import { type Eventual, withValue } from '../common/eventual.ts'
import { upTo } from '../common/lru.ts'
import { principalKey } from '../common/principal-key.ts'
import type { Tokens } from './upstream-sign-in/grants.ts'
import type { UpstreamTokens } from './upstream-sign-in/tokens.ts'
import type { Vault } from './vault.ts'

type Headers = Readonly<Record<string, string>>

interface PackageVariable {
  readonly owner: string
  readonly entry: Pick<EntryDetail, 'id' | 'package_name'>
  /** Package URL. */
  readonly url: string
  readonly name: string
}

interface CredentialsOptions {
  readonly store: CredentialStore
  readonly vault: Vault
  readonly tokens: UpstreamTokens
  readonly get: (agent: string, caller: Principal | null) => Promise<EntryDetail>
  readonly namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** The address at which an entry is called; undefined if it is not callable. */
  readonly urlOf: (entry: EntryDetail) => string | undefined
  readonly clock: () => number
}

const maxPerOwner = 100
/** Maximum time for which another process may still use a deleted credential, in milliseconds. */
const maxStaleMilliseconds = 2_000
const maxCached = 10_000

const noVariables: StoredVariables = { key: '', values: new Map() }

/** Credentials of callers for other agents. The gateway uses a credential when it calls the agent for its caller. */
export class Credentials {
  readonly #options: CredentialsOptions
  // A clock that is set back must not lengthen the life of a removed credential.
  readonly #cacheClock: () => number
  readonly #cache = new LRUCache<
    string,
    { readonly until: number; readonly rows: readonly StoredCredential[] }
  >(upTo(maxCached))

  constructor(options: CredentialsOptions) {
    this.#options = options
    this.#cacheClock = monotonic(options.clock)
  }

  async set({ agent, header, variable, value }: CredentialInput, caller: Principal): Promise<Credential> {
    const entry = await this.#options.get(agent, caller)
    const url = this.#options.urlOf(entry)
    if (url === undefined) {
      throw new Failure(
        'not_callable',
        `${entry.package_name} is not called from here, so it needs no credential.`,
      )
    }
    const owner = principalKey(caller)
    if (isPackageUrl(url) !== (variable !== undefined)) throw otherKind(entry.package_name, isPackageUrl(url))
    if (variable !== undefined) return await this.setVariable({ owner, entry, url, name: variable }, value)
    const place = { owner, entry_id: entry.id, variable: '', origin: originOf(url), header }
    return shown(await this.#put(place, url, value), entry.package_name)
  }

  async list(caller: Principal): Promise<Credential[]> {
    const rows = await this.#options.store.list(principalKey(caller))
    const names = await this.#options.namesOf(rows.map((row) => row.entry_id))
    return rows.map((row) => shown(row, names.get(row.entry_id) ?? row.entry_id))
  }

  /** Ends the tokens of a sign-in at their server too, where it answers. Throws Failure `not_found`. */
  async remove(agent: string, caller: Principal): Promise<void> {
    const { store, tokens, namesOf } = this.#options
    const owner = principalKey(caller)
    const rows = await store.list(owner)
    const names = await namesOf(rows.map((row) => row.entry_id))
    const row = rows.find(({ entry_id }) => entry_id === agent || names.get(entry_id) === agent)
    if (!row || !(await store.remove(owner, row.entry_id))) {
      throw new Failure('not_found', `You have stored no credential for ${agent}.`)
    }
    this.#forget(row)
    const ended = rows.filter(({ entry_id }) => entry_id === row.entry_id)
    await Promise.all(ended.map((each) => tokens.revoke(tokens.open(each))))
  }

  /**
   * The header fields for a call to an agent at an address; none if the caller stored none for it. Tokens that end soon
   * are renewed. Throws Failure if their server does not answer.
   */
  async headersFor(entryId: string, url: string, caller: Principal): Promise<Headers> {
    const rows = await this.#find(principalKey(caller), entryId)
    const row = rows.find(({ variable, origin }) => variable === '' && origin === originOf(url))
    if (!row) return {}
    if (!row.sign_in) return { [row.header]: this.#open(row, url) }
    return row.sign_in.url === new URL(url).href ? await this.#headersOf(row) : {}
  }

  /** The header fields after the agent refused these; undefined if there are no other ones. */
  async renewed(
    entryId: string,
    url: string,
    caller: Principal,
    refused: Headers,
  ): Promise<Headers | undefined> {
    const row = await this.#headerOf(principalKey(caller), entryId)
    if (row?.sign_in?.url !== new URL(url).href) return undefined
    const headers = await this.#headersOf(row, /^Bearer (.*)$/.exec(refused.authorization ?? '')?.[1])
    const isNew = headers.authorization !== undefined && headers.authorization !== refused.authorization
    return isNew ? headers : undefined
  }

  /** The sign-in of an owner to an agent, and when it was. */
  async signInOf(
    owner: string,
    entryId: string,
  ): Promise<(SignInFacts & { created_at: string }) | undefined> {
    const row = await this.#headerOf(owner, entryId)
    return row?.sign_in ? { ...row.sign_in, created_at: row.created_at } : undefined
  }

  /** Stores the tokens of a sign-in in place of any other header for the agent. */
  async putSignIn(
    { owner, entry_id, url }: { readonly owner: string; readonly entry_id: string; readonly url: string },
    tokens: Tokens,
  ): Promise<void> {
    const created_at = new Date(this.#options.clock()).toISOString()
    const place = { owner, entry_id, variable: '', origin: originOf(url), header: 'authorization' }
    await this.#putRow(this.#options.tokens.seal(tokens, { ...place, created_at }, new URL(url).href))
  }

  /** Stores the value of a variable of a package; `owner` may be a key that is no caller's. */
  async setVariable({ owner, entry, url, name }: PackageVariable, value: string): Promise<Credential> {
    const place = { owner, entry_id: entry.id, variable: name, origin: originOf(url), header: '' }
    return shown(await this.#put(place, url, value), entry.package_name)
  }

  /** The values of the variables of a package that an owner stored. */
  variablesFor(entryId: string, url: string, owner: string): Eventual<StoredVariables> {
    return withValue(this.#find(owner, entryId), (rows) => {
      const own = rows.filter(({ variable, origin }) => variable !== '' && origin === originOf(url))
      if (own.length === 0) return noVariables
      return {
        key: hash('sha256', JSON.stringify(own.map(({ variable, sealed }) => [variable, sealed])), 'hex'),
        values: new Map(own.map((row) => [row.variable, this.#open(row, url)])),
      }
    })
  }

  /** Removes every credential that an owner stored for an entry. */
  async removeAll(entryId: string, owner: string): Promise<void> {
    await this.#options.store.remove(owner, entryId)
    this.#forget({ owner, entry_id: entryId })
  }

  #find(owner: string, entryId: string): Eventual<readonly StoredCredential[]> {
    const cached = this.#cache.get(cacheKey({ owner, entry_id: entryId }))
    return cached && cached.until > this.#cacheClock() ? cached.rows : this.#findNow(owner, entryId)
  }

  async #findNow(owner: string, entryId: string): Promise<readonly StoredCredential[]> {
    const rows = await this.#options.store.find(owner, entryId)
    const until = this.#cacheClock() + maxStaleMilliseconds
    this.#cache.set(cacheKey({ owner, entry_id: entryId }), { until, rows })
    return rows
  }

  #forget(place: Pick<StoredCredential, 'owner' | 'entry_id'>): void {
    this.#cache.delete(cacheKey(place))
  }

  /** The credential that is no variable, as the store has it now. */
  async #headerOf(owner: string, entryId: string): Promise<StoredCredential | undefined> {
    return (await this.#options.store.find(owner, entryId)).find(({ variable }) => variable === '')
  }

  async #headersOf(row: StoredCredential, refused?: string): Promise<Headers> {
    const tokens = this.#options.tokens.current(row, refused) ?? (await this.#renew(row, refused))
    return tokens ? { authorization: `Bearer ${tokens.access_token}` } : {}
  }

  async #renew(row: StoredCredential, refused: string | undefined): Promise<Tokens | undefined> {
    try {
      return await this.#options.tokens.renewed(row, refused)
    } finally {
      this.#forget(row)
    }
  }

  async #put(
    place: Omit<StoredCredential, 'sealed' | 'created_at' | 'sign_in'>,
    url: string,
    value: string,
  ): Promise<StoredCredential> {
    const { vault, clock } = this.#options
    const sealed = vault.seal(value, secretBinding(place, url))
    const created_at = new Date(clock()).toISOString()
    return await this.#putRow({ ...place, sealed, created_at, sign_in: null })
  }

  /** Puts a credential in place of the one before, whose tokens end. */
  async #putRow(row: StoredCredential): Promise<StoredCredential> {
    const { store, tokens } = this.#options
    const before = await this.#headerOf(row.owner, row.entry_id)
    if (!(await store.put(row, maxPerOwner))) {
      throw new Failure('conflict', `You have stored ${maxPerOwner} credentials.`, {
        hint: 'Delete one first.',
      })
    }
    this.#forget(row)
    // At one issuer the end of the old tokens may end the new ones.
    const isOther = before?.sign_in?.issuer !== row.sign_in?.issuer
    if (row.variable === '' && isOther) await tokens.revoke(tokens.open(before))
    return row
  }

  #open(row: StoredCredential, url: string): string {
    const value = this.#options.vault.open(row.sealed, secretBinding(row, url))
    if (value !== undefined) return value
    throw new Failure('not_configured', 'The credential for this agent cannot be decrypted.', {
      hint: 'The address of the agent or the secret key has changed. Store the credential again.',
    })
  }
}

function cacheKey({ owner, entry_id }: Pick<StoredCredential, 'owner' | 'entry_id'>): string {
  return `${entry_id} ${owner}`
}

function shown(row: StoredCredential, agent: string): Credential {
  const { header, variable, origin, created_at } = row
  const common = { agent, header, variable: variable || null, origin, created_at }
  if (!row.sign_in) return { ...common, kind: variable ? 'variable' : 'header', sign_in: null }
  const { issuer, scopes, expires_at } = row.sign_in
  return { ...common, kind: 'sign_in', sign_in: { issuer, scopes, expires_at } }
}

function otherKind(agent: string, isPackage: boolean): Failure {
  return isPackage
    ? new Failure('conflict', `${agent} is a package: name the variable that takes the value.`)
    : new Failure('conflict', `${agent} has an address: name a header, not a variable.`)
}

/** Opaque addresses, such as those of packages, have no origin (URL Standard, 4.7). */
function originOf(url: string): string {
  const { origin, href } = new URL(url)
  return origin === 'null' ? href : origin
}

/** Bound to the whole address: agents that share a host do not get each other's credentials. */
function secretBinding(
  { owner, entry_id, header, variable }: Pick<StoredCredential, 'owner' | 'entry_id' | 'header' | 'variable'>,
  url: string,
): string {
  return JSON.stringify([owner, entry_id, new URL(url).href, header, ...(variable ? [variable] : [])])
}
