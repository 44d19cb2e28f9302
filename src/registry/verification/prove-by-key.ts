import { Failure } from '../../../schemas/failure.ts'
import { mcpPath, statement } from './challenge.ts'
import { isSignedBy, type McpRecord, readMcpRecords, readSignature } from './mcp-key.ts'
import type { Outcome, ProofAttempt, ProofSources } from './proof.ts'
import { readText } from './site-text.ts'

const maxKeys = 10

/**
 * Proves a domain by the record of the official MCP registry, as TXT at the apex or as a file, and a signature by
 * its key over the claim. A later check requires the key of the proof to be published still.
 */
export async function proveByKey(
  request: ProofAttempt,
  sources: ProofSources,
  signal: AbortSignal,
): Promise<Outcome> {
  const { domain, token, public_key } = request
  if (request.signature === undefined) {
    return {
      detail: `No signature by the key of the MCP record was given; sign ${statement(token)} with it.`,
    }
  }
  const signature = readSignature(request.signature)
  if (!signature) return { detail: 'The signature is not 64 bytes in base64 or hexadecimal.' }
  const { records, txt_fault, file_fault } = await findRecords(domain, sources, signal)
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
  const [broken] = records.flatMap((record) => ('fault' in record ? record.fault : []))
  const file = file_fault ? Failure.from(file_fault).message : `${sources.origin}${mcpPath} has no record.`
  if (published.length > 0)
    return { detail: `The MCP record of ${domain} no longer holds the key of the proof.` }
  if (broken) return { detail: `The MCP record of ${domain} cannot be used: ${broken}.` }
  return { detail: `There is no TXT record v=MCPv1; k=ed25519; p=BASE64 at ${domain}, and: ${file}` }
}

interface Found {
  readonly records: readonly McpRecord[]
  readonly txt_fault: unknown
  readonly file_fault: unknown
}

/** One source is enough, so a fault of one source matters only if the other has no record. */
async function findRecords(
  domain: string,
  { resolveTxt, fetch, origin }: ProofSources,
  signal: AbortSignal,
): Promise<Found> {
  const [txt, file] = await Promise.allSettled([
    resolveTxt(domain, signal),
    readText(fetch, `${origin}${mcpPath}`, signal),
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
