import { Failure } from '../../../schemas/failure.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import type { ResolveTxt } from '../../net/fetch/resolver.ts'
import { challengeName, challengePath, type Method, methods, statement, statements } from './challenge.ts'
import type { Outcome, ProofAttempt, ProofSources, Prove, Way } from './proof.ts'
import { proveByKey } from './prove-by-key.ts'
import { httpsOrigin, readText } from './site-text.ts'

interface ProverPorts {
  readonly resolveTxt: ResolveTxt
  readonly fetch: Fetch
  /** Origin of a domain's files; https://DOMAIN when absent. */
  readonly originOf?: (domain: string) => string
}

const ways: Readonly<Record<Method, Way>> = { dns: proveByRecord, http: proveByFile, mcp: proveByKey }

/** Creates the prover. It runs the methods concurrently. */
export function createProver({ resolveTxt, fetch, originOf = httpsOrigin }: ProverPorts): Prove {
  return async (request, signal) => {
    signal.throwIfAborted()
    const sources = { resolveTxt, fetch, origin: originOf(request.domain) }
    const requested = request.method === undefined ? methods : [request.method]
    const outcomes = await Promise.all(
      requested.map(async (method) => ({
        method,
        ...(await attempt(ways[method], request, sources, signal)),
      })),
    )
    signal.throwIfAborted()
    const found = outcomes.find(({ proof }) => proof !== undefined)
    return {
      proof: found ? { method: found.method, domain: request.domain, ...found.proof } : null,
      attempts: outcomes.map(({ method, detail, proof }) => ({ method, ok: proof !== undefined, detail })),
    }
  }
}

async function attempt(
  way: Way,
  request: ProofAttempt,
  sources: ProofSources,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return await way(request, sources, signal)
  } catch (error) {
    return { detail: Failure.from(error).message }
  }
}

async function proveByRecord(
  { domain, token }: ProofAttempt,
  { resolveTxt }: ProofSources,
  signal: AbortSignal,
) {
  const names = [challengeName(domain), domain]
  const answers = await Promise.allSettled(names.map((name) => resolveTxt(name, signal)))
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (includesStatement(records, token))
    return { detail: `The TXT record of ${domain} was found.`, proof: {} }
  const fault = answers.find(({ status }) => status === 'rejected')
  if (fault?.status === 'rejected') throw fault.reason
  const claimed = records.some((record) => record.trim().startsWith('dragoman-verify='))
  return {
    detail: claimed
      ? `The TXT records of ${domain} hold another owner's token, not ${statement(token)}.`
      : `There is no TXT record ${statement(token)} at ${names.join(' or ')}.`,
  }
}

async function proveByFile({ token }: ProofAttempt, { fetch, origin }: ProofSources, signal: AbortSignal) {
  const url = `${origin}${challengePath}`
  const text = await readText(fetch, url, signal)
  if (includesStatement(text.split('\n'), token)) return { detail: `${url} contains the line.`, proof: {} }
  return { detail: `${url} has no line ${statement(token)}.` }
}

function includesStatement(lines: readonly string[], token: string): boolean {
  const accepted = statements(token)
  return lines.some((line) => accepted.includes(line.trim()))
}
