import type { Migration } from 'kysely/migration'
import { entries } from './0001-entries.ts'
import { embeddings } from './0002-embeddings.ts'
import { identity } from './0003-identity.ts'
import { trust } from './0004-trust.ts'
import { tasks } from './0005-tasks.ts'
import { playground } from './0006-playground.ts'
import { credentials } from './0007-credentials.ts'
import { liveness } from './0008-liveness.ts'
import { listed } from './0009-listed.ts'
import { versions } from './0010-versions.ts'
import { repeats } from './0011-repeats.ts'
import { changes } from './0012-changes.ts'
import { rate } from './0013-rate.ts'
import { digestFormat } from './0014-digest-format.ts'
import { offers } from './0017-offers.ts'
import { shownNames } from './0017-shown-names.ts'
import { sessionAddresses } from './0018-session-addresses.ts'
import { ownerUsage } from './0019-owner-usage.ts'
import { persons } from './0020-persons.ts'
import { taskPush } from './0021-task-push.ts'
import { servers } from './0022-servers.ts'
import { signIn } from './0023-sign-in.ts'
import { approvals } from './0024-approvals.ts'
import { credentialSignIn } from './0025-credential-sign-in.ts'
import { livenessDays } from './0026-liveness-days.ts'
import { changeByEntry } from './0027-change-by-entry.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-entries': entries,
  '0002-embeddings': embeddings,
  '0003-identity': identity,
  '0004-trust': trust,
  '0005-tasks': tasks,
  '0006-playground': playground,
  '0007-credentials': credentials,
  '0008-liveness': liveness,
  '0009-listed': listed,
  '0010-versions': versions,
  '0011-repeats': repeats,
  '0012-changes': changes,
  '0013-rate': rate,
  '0014-digest-format': digestFormat,
  '0017-offers': offers,
  '0017-shown-names': shownNames,
  '0018-session-addresses': sessionAddresses,
  '0019-owner-usage': ownerUsage,
  '0020-persons': persons,
  '0021-task-push': taskPush,
  '0022-servers': servers,
  '0023-sign-in': signIn,
  '0024-approvals': approvals,
  '0025-credential-sign-in': credentialSignIn,
  '0026-liveness-days': livenessDays,
  '0027-change-by-entry': changeByEntry,
}

/** In the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(migrations).sort()
