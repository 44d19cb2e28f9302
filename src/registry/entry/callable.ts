import {
  type AccessReport,
  type Callable,
  calledEndpoint,
  endpointsOf,
  isSpoken,
} from '../../../schemas/callable.ts'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import type { Liveness, LivenessStatus } from '../../../schemas/liveness.ts'
import { fixedValue, runnablePackage, variablesIn } from '../../../schemas/package.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

/** Whether an entry can be called through the gateway, and why. */
interface CallableFact {
  readonly callable: Callable
  readonly callable_reason: string
}

type Facts = Pick<
  StoredEntry,
  'hosted' | 'endpoints' | 'packages' | 'card' | 'manifest_url' | 'access' | 'reading'
>

const silent = new Set<LivenessStatus>(['dead', 'stale'])

const reasons: Readonly<Record<AccessReport['kind'], string>> = {
  open: 'It answered without a credential.',
  needs_key: 'It asks for a credential: store a key for it with set_credential.',
  needs_sign_in: 'It asks for a sign-in (OAuth): a call answers with the address at which you sign in.',
}

/** Whether an entry can be called, by its document and by what its agent answered. */
export function callableOf(
  entry: Facts,
  liveness: Pick<Liveness, 'status' | 'access' | 'failure'>,
): CallableFact {
  const fact = (callable: Callable, callable_reason: string) => ({ callable, callable_reason })
  const { hosted, packages, reading } = entry
  if (hosted) {
    return liveness.failure === 'not_configured'
      ? fact('no', 'This gateway runs it, and its operator has to set something first: a call says what.')
      : fact('hosted', 'This gateway runs it.')
  }
  const isSilent = silent.has(liveness.status)
  const called = calledEndpoint(entry)
  if (called && !isSilent) {
    const kind = kindAsked(entry.access, liveness.access)
    if (kind) return fact(kind, reasons[kind])
    const header = requiredHeader(called)
    if (header) return fact('needs_key', `It requires the header ${header}: store it with set_credential.`)
    if (reading?.status === 'unreachable')
      return fact('stated', 'It states an address and did not answer there.')
    return fact('stated', 'It states an address, and nobody has asked it yet.')
  }
  if (packages.length > 0) {
    const here = runnablePackage(entry) ? ' The operator can approve that this gateway runs it.' : ''
    return fact('package', `It runs on your machine: see install_config.${here}`)
  }
  if (isSilent) return fact('no', 'It has not answered the last probes.')
  const open = endpointsOf(entry).find(isSpoken)
  if (open) {
    const names = variablesIn(open.url).join(', ')
    return fact('no', `Its address has variables that only its user can fill in: ${names}.`)
  }
  return endpointsOf(entry).length > 0
    ? fact('no', 'It speaks no protocol that this gateway supports.')
    : fact('no', 'It states no address and no package.')
}

/** The first header that a caller has to give. */
function requiredHeader({ headers = [] }: Endpoint): string | undefined {
  return headers.find((header) => header.is_required && fixedValue(header) === undefined)?.name
}

/** The later answer counts, except that a challenge without metadata does not contradict a known sign-in. */
function kindAsked(read: AccessReport | null, probed: AccessReport | null): AccessReport['kind'] | undefined {
  const isReadLater = read !== null && (probed === null || read.asked_at >= probed.asked_at)
  const [latest, other] = isReadLater ? [read, probed] : [probed, read]
  const isVague = latest?.kind === 'needs_key' && other?.kind === 'needs_sign_in'
  return isVague ? 'needs_sign_in' : latest?.kind
}
