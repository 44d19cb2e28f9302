import { readFile } from 'node:fs/promises'
import { styleText } from 'node:util'
import { Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import type { TransferPage, TransferStatus } from '../../schemas/transfer.ts'
import type { AuditEvent, Finding, VerificationOutcome } from '../../schemas/trust.ts'
import type { Validation } from '../../schemas/validation.ts'
import { parseObject } from './call.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

async function ask(action: string, params: JsonObject): Promise<Json> {
  await using client = await openClient()
  return await client.send({ to: 'svc.registry', action, params })
}

/** Prints the findings about a card or a publication. */
export async function validate(what: string, json: boolean): Promise<void> {
  const found = (await ask('validate', await toValidate(what))) as unknown as Validation
  if (!found.valid) process.exitCode = 1
  if (json) return print(found)
  for (const finding of found.findings) print(lineOf(finding))
  print(found.valid ? 'It can be listed.' : 'It cannot be listed.')
}

/** A URL names a manifest; a file holds a card or a publication. */
async function toValidate(what: string): Promise<JsonObject> {
  if (/^https?:\/\//.test(what)) return { manifest_url: what }
  const text = await readFile(what, 'utf8').catch((fault) => {
    throw new Failure('invalid_request', `${what} cannot be read.`, {}, fault)
  })
  const document = parseObject(text, 'The contents of the file') as JsonObject
  return 'package_name' in document || 'manifest_url' in document
    ? { publication: document }
    : { card: document }
}

function lineOf({ severity, code, field, message, suggestion }: Finding): string {
  const colour = { error: 'red', warning: 'yellow', info: 'cyan' } as const
  return `${styleText(colour[severity], severity)} ${field || '/'} ${message} ${suggestion ?? ''}`
    .trimEnd()
    .concat(` (${code})`)
}

interface ProveOptions {
  readonly domain?: string
  readonly method?: string
  readonly signature?: string
}

/** Verifies or claims an agent. Without a proof, prints what to publish and sets exit code 1. */
export async function prove(
  action: 'verify' | 'claim',
  agent: string,
  { domain, method, signature }: ProveOptions,
  json: boolean,
): Promise<void> {
  const proof = { ...(domain && { domain }), ...(method && { method }), ...(signature && { signature }) }
  const outcome = (await ask(action, { agent, ...proof })) as unknown as VerificationOutcome
  if (outcome.reason !== null) process.exitCode = 1
  if (json) return print(outcome)
  print(`${outcome.package_name} ${outcome.verification_level}`)
  if (outcome.reason !== null) print(outcome.reason)
  for (const attempt of outcome.attempts) print(`  ${attempt.method}: ${attempt.detail}`)
  if (!outcome.challenges) return
  const { dns, http, mcp } = outcome.challenges
  print(`Publish one of these, then ask again:
  dns:  TXT ${dns.record.name} ${dns.record.value}
  http: ${http.url} with the line ${http.line}
  mcp:  TXT ${mcp.record.name} ${mcp.record.value}, and --signature over ${mcp.sign}`)
}

/** Offers an agent, transfers it at once as an admin, or withdraws the offer. */
export async function transfer(
  agent: string,
  { to, issuer, withdraw = false }: { to?: string; issuer?: string; withdraw?: boolean },
  json: boolean,
): Promise<void> {
  if ((to === undefined) === !withdraw) {
    throw new Failure('invalid_request', 'Give one of --to SUBJECT and --withdraw.')
  }
  const done = await ask('transfer', { agent, subject: to ?? null, ...(issuer && { issuer }) })
  if (json) return print(done)
  const { package_name, status } = done as { package_name: string; status: TransferStatus }
  const effect = {
    offered: `is offered to ${to}, who gets it by accept-transfer`,
    withdrawn: 'is offered to nobody',
    transferred: `belongs to ${to}`,
  }
  print(`${package_name} ${effect[status]}`)
}

export async function acceptTransfer(agent: string, json: boolean): Promise<void> {
  const entry = await ask('accept_transfer', { agent })
  print(json ? entry : `${(entry as { package_name: string }).package_name} is yours`)
}

export async function listTransfers({ made = false }: { made?: boolean }, json: boolean): Promise<void> {
  const page = await ask('list_transfers', { made, limit: 100 })
  if (json) return print(page)
  for (const { package_name, from, to, offered_at } of (page as unknown as TransferPage).offers) {
    print(`${package_name} from ${from?.subject ?? 'nobody'} to ${to.subject}, ${offered_at}`)
  }
}

export async function suspend(
  agent: string,
  { reason, lift = false }: { reason: string; lift?: boolean },
  json: boolean,
): Promise<void> {
  const entry = await ask('suspend', { agent, reason, suspended: !lift })
  print(
    json
      ? entry
      : `${(entry as { package_name: string }).package_name} ${lift ? 'is listed again' : 'is suspended'}`,
  )
}

export async function report(
  agent: string,
  { reason, detail }: { reason: string; detail?: string },
  json: boolean,
): Promise<void> {
  const done = await ask('report', { agent, reason, ...(detail && { detail }) })
  print(json ? done : `${agent} is reported`)
}

export async function audit(agent: string, { limit }: { limit: string }, json: boolean): Promise<void> {
  const page = await ask('audit', { agent, limit: Number(limit) })
  if (json) return print(page)
  for (const event of (page as unknown as { events: AuditEvent[] }).events) {
    const { at, action, actor, reason, after } = event
    const fields = Object.keys(after ?? {}).join(', ')
    print(
      `${at} ${styleText('bold', action)} by ${actor?.subject ?? 'the gateway'} ${reason ?? ''} ${fields}`.trimEnd(),
    )
  }
}
