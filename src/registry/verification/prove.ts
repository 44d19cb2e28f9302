import { Failure } from '../../../schemas/failure.ts'
import type { Fetch } from '../../net/fetch.ts'
import type { ResolveTxt } from '../../net/resolver.ts'
import {
  challengeName,
  challengePath,
  type Method,
  mcpPath,
  methods,
  statement,
  statements,
} from './challenge.ts'
import { isSignedBy, type McpRecord, readMcpRecords, readSignature } from './mcp-key.ts'
import { readText } from './site-text.ts'

export interface ProverPorts {
  readonly resolveTxt: ResolveTxt
  readonly fetch: Fetch
  /** Where the files of a domain are; https://DOMAIN when absent. */
  readonly originOf?: (domain: string) => string
}

export interface ProofRequest {
  /** One that `agreement` gave: it is not checked here again. */
  readonly domain: string
  /** What `claimToken` gave for the owner and the domain. */
  readonly token: string
  /** All of them when absent. */
  readonly method?: Method | undefined
  /** For `mcp`: an Ed25519 signature over `dragoman-verify=TOKEN`, base64 or hexadecimal. */
  readonly signature?: string | undefined
  /** The key of an earlier proof, base64: it must still be the one that is published. */
  readonly public_key?: string | undefined
}

/** What is kept of a proof: enough to make it again. */
export interface Proof {
  readonly method: Method
  readonly domain: string
  /** Base64 of 32 bytes; for `mcp` alone, as the signature. */
  readonly public_key?: string
  readonly signature?: string
}

export interface Attempt {
  readonly method: Method
  readonly ok: boolean
  /** One sentence for the owner. */
  readonly detail: string
}

export interface Proving {
  /** The first method that succeeded, in the order dns, http, mcp. */
  readonly proof: Proof | null
  readonly attempts: readonly Attempt[]
}

/** Tries to prove a claim. A fault outside is an attempt that failed; throws only what the signal aborts with. */
export type Prove = (request: ProofRequest, signal: AbortSignal) => Promise<Proving>

interface Outcome {
  readonly detail: string
  readonly proof?: Pick<Proof, 'public_key' | 'signature'>
}

const maxKeys = 10
const ways = { dns: proveByDns, http: proveByFile, mcp: proveByKey } as const

/** Makes the prover; the ways are tried side by side, so the slowest bounds the time. */
export function createProver(ports: ProverPorts): Prove {
  return async (request, signal) => {
    signal.throwIfAborted()
    const asked = request.method === undefined ? methods : [request.method]
    const outcomes = await Promise.all(
      asked.map(async (method) => ({ method, ...(await attempt(ways[method], ports, request, signal)) })),
    )
    signal.throwIfAborted()
    const found = outcomes.find(({ proof }) => proof !== undefined)
    return {
      proof: found ? { method: found.method, domain: request.domain, ...found.proof } : null,
      attempts: outcomes.map(({ method, detail, proof }) => ({ method, ok: proof !== undefined, detail })),
    }
  }
}

type Way = (ports: ProverPorts, request: ProofRequest, signal: AbortSignal) => Promise<Outcome>

async function attempt(
  way: Way,
  ports: ProverPorts,
  request: ProofRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return await way(ports, request, signal)
  } catch (error) {
    return { detail: Failure.from(error).message }
  }
}

async function proveByDns({ resolveTxt }: ProverPorts, { domain, token }: ProofRequest, signal: AbortSignal) {
  const names = [challengeName(domain), domain]
  const answers = await Promise.allSettled(names.map((name) => resolveTxt(name, signal)))
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (includesStatement(records, token)) return { detail: `The TXT record of ${domain} is there.`, proof: {} }
  const fault = answers.find(({ status }) => status === 'rejected')
  if (fault?.status === 'rejected') throw fault.reason
  const claimed = records.some((record) => record.trim().startsWith('dragoman-verify='))
  return {
    detail: claimed
      ? `The TXT records of ${domain} hold another owner's token, not ${statement(token)}.`
      : `There is no TXT record ${statement(token)} at ${names.join(' or ')}.`,
  }
}

async function proveByFile(ports: ProverPorts, { domain, token }: ProofRequest, signal: AbortSignal) {
  const url = `${originOf(ports, domain)}${challengePath}`
  const text = await readText(ports.fetch, url, signal)
  if (includesStatement(text.split('\n'), token)) return { detail: `${url} holds the line.`, proof: {} }
  return { detail: `${url} has no line ${statement(token)}.` }
}

async function proveByKey(ports: ProverPorts, request: ProofRequest, signal: AbortSignal): Promise<Outcome> {
  const { domain, token, public_key } = request
  if (request.signature === undefined) {
    return {
      detail: `No signature by the key of the MCP record was given; sign ${statement(token)} with it.`,
    }
  }
  const signature = readSignature(request.signature)
  if (!signature) return { detail: 'The signature is not 64 bytes in base64 or hexadecimal.' }
  const { records, txt_fault, file_fault } = await findRecords(ports, domain, signal)
  const published = [
    ...new Set(records.flatMap((record) => ('public_key' in record ? record.public_key : []))),
  ]
  const keys = published.filter((key) => public_key === undefined || key === public_key).slice(0, maxKeys)
  const key = keys.find((candidate) => isSignedBy(candidate, signature, statement(token)))
  if (key !== undefined) {
    return {
      detail: `The key of the MCP record of ${domain} signed the claim.`,
      proof: { public_key: key, signature: Buffer.from(signature).toString('base64') },
    }
  }
  if (keys.length > 0) return { detail: `The signature is not by the key in the MCP record of ${domain}.` }
  if (txt_fault) throw txt_fault
  if (published.length > 0)
    return { detail: `The MCP record of ${domain} no longer holds the key of the proof.` }
  const [broken] = records.flatMap((record) => ('fault' in record ? record.fault : []))
  if (broken) return { detail: `The MCP record of ${domain} cannot be used: ${broken}.` }
  const file = file_fault
    ? Failure.from(file_fault).message
    : `${originOf(ports, domain)}${mcpPath} has none.`
  return { detail: `There is no TXT record v=MCPv1; k=ed25519; p=BASE64 at ${domain}, and: ${file}` }
}

interface Found {
  readonly records: readonly McpRecord[]
  readonly txt_fault: unknown
  readonly file_fault: unknown
}

/** Either place will do, so a fault of one matters only where the other has nothing. */
async function findRecords(ports: ProverPorts, domain: string, signal: AbortSignal): Promise<Found> {
  const [txt, file] = await Promise.allSettled([
    ports.resolveTxt(domain, signal),
    readText(ports.fetch, `${originOf(ports, domain)}${mcpPath}`, signal),
  ])
  const texts = [
    ...(txt.status === 'fulfilled' ? txt.value : []),
    ...(file.status === 'fulfilled' ? file.value.split('\n') : []),
  ]
  return {
    records: readMcpRecords(texts),
    txt_fault: txt.status === 'rejected' ? txt.reason : undefined,
    file_fault: file.status === 'rejected' ? file.reason : undefined,
  }
}

function includesStatement(lines: readonly string[], token: string): boolean {
  const accepted = statements(token)
  return lines.some((line) => accepted.includes(line.trim()))
}

function originOf({ originOf: chosen }: ProverPorts, domain: string): string {
  return chosen ? chosen(domain) : `https://${domain}`
}
