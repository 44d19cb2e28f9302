import type { Migration } from 'kysely/migration'

/** The migrations by name. Most starts need none of them, so that each is loaded when it is run. */
const loaders: Readonly<Record<string, () => Promise<Migration>>> = {
  '0001-entries': async () => (await import('./0001-entries.ts')).entries,
  '0002-embeddings': async () => (await import('./0002-embeddings.ts')).embeddings,
  '0003-identity': async () => (await import('./0003-identity.ts')).identity,
  '0004-trust': async () => (await import('./0004-trust.ts')).trust,
  '0005-tasks': async () => (await import('./0005-tasks.ts')).tasks,
  '0006-playground': async () => (await import('./0006-playground.ts')).playground,
  '0007-credentials': async () => (await import('./0007-credentials.ts')).credentials,
  '0008-liveness': async () => (await import('./0008-liveness.ts')).liveness,
  '0009-listed': async () => (await import('./0009-listed.ts')).listed,
  '0010-versions': async () => (await import('./0010-versions.ts')).versions,
  '0011-repeats': async () => (await import('./0011-repeats.ts')).repeats,
  '0012-changes': async () => (await import('./0012-changes.ts')).changes,
  '0013-rate': async () => (await import('./0013-rate.ts')).rate,
  '0014-digest-format': async () => (await import('./0014-digest-format.ts')).digestFormat,
  '0017-offers': async () => (await import('./0017-offers.ts')).offers,
  '0017-shown-names': async () => (await import('./0017-shown-names.ts')).shownNames,
  '0018-session-addresses': async () => (await import('./0018-session-addresses.ts')).sessionAddresses,
  '0019-owner-usage': async () => (await import('./0019-owner-usage.ts')).ownerUsage,
  '0020-persons': async () => (await import('./0020-persons.ts')).persons,
  '0021-task-push': async () => (await import('./0021-task-push.ts')).taskPush,
  '0022-servers': async () => (await import('./0022-servers.ts')).servers,
  '0023-sign-in': async () => (await import('./0023-sign-in.ts')).signIn,
  '0024-approvals': async () => (await import('./0024-approvals.ts')).approvals,
  '0025-credential-sign-in': async () => (await import('./0025-credential-sign-in.ts')).credentialSignIn,
  '0026-liveness-days': async () => (await import('./0026-liveness-days.ts')).livenessDays,
  '0027-change-by-entry': async () => (await import('./0027-change-by-entry.ts')).changeByEntry,
  '0028-local-person': async () => (await import('./0028-local-person.ts')).localPerson,
  '0029-call-days': async () => (await import('./0029-call-days.ts')).callDays,
  '0030-audit-action': async () => (await import('./0030-audit-action.ts')).auditAction,
  '0031-task-agent': async () => (await import('./0031-task-agent.ts')).taskAgent,
  '0032-suspended': async () => (await import('./0032-suspended.ts')).suspended,
  '0033-task-holder': async () => (await import('./0033-task-holder.ts')).taskHolder,
}

/** In the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(loaders).sort()

export async function loadMigrations(): Promise<Record<string, Migration>> {
  const loaded = Object.entries(loaders).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(loaded))
}
