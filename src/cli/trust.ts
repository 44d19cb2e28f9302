import type { AuditEvent, RegistryEvent } from '../../schemas/audit.ts'
import type { CallCounts, CallHistory } from '../../schemas/calls.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import { localIssuer } from '../../schemas/identity.ts'
import type { ServerValidation } from '../../schemas/server.ts'
import { isServerDocument } from '../../schemas/server-document.ts'
import type { SuspensionPage } from '../../schemas/suspension.ts'
import type { TransferPage, TransferStatus } from '../../schemas/transfer.ts'
import type { Actor, VerificationOutcome } from '../../schemas/trust.ts'
import type { Validation } from '../../schemas/validation.ts'
import { lineOfFinding, lineOfIssue } from './findings.ts'
import { readNumber, readObject } from './input.ts'
import { bold, coloured, print, printTable, say } from './output.ts'
import { readPages } from './pages.ts'
import { askRegistry } from './send.ts'
import type { Column } from './table.ts'

/** Prints the findings about a card, a publication or a server.json. */
export async function validate(what: string, json: boolean): Promise<void> {
  const found = await findingsAbout(what)
  if (!found.valid) process.exitCode = 1
  if (json) return print(found)
  for (const line of 'issues' in found ? found.issues.map(lineOfIssue) : found.findings.map(lineOfFinding))
    print(line)
  print(found.valid ? 'It can be listed.' : 'It cannot be listed.')
}

/** A URL names a manifest; a file holds a card, a publication or a server.json. */
async function findingsAbout(what: string): Promise<Validation | ServerValidation> {
  if (/^https?:\/\//.test(what)) return await askRegistry<Validation>('validate', { manifest_url: what })
  const document = await readObject(what)
  if (isServerDocument(document))
    return await askRegistry<ServerValidation>('validate_server', { server: document })
  const isPublication = publicationFields.some((field) => field in document)
  return await askRegistry<Validation>(
    'validate',
    isPublication ? { publication: document } : { card: document },
  )
}

/** Fields that a publication has and a card lacks. */
const publicationFields = ['package_name', 'manifest_url', 'endpoints', 'packages']

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
  const outcome = await askRegistry<VerificationOutcome>(action, { agent, ...proof })
  if (outcome.reason !== null) process.exitCode = 1
  if (json) return print(outcome)
  print(`${outcome.package_name} ${outcome.verification_level}`)
  if (outcome.reason !== null) print(outcome.reason)
  const isProved = outcome.attempts.some(({ ok }) => ok)
  for (const { ok, method, detail } of outcome.attempts) if (ok || !isProved) print(`  ${method}: ${detail}`)
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
  const params = { agent, subject: to ?? null, ...(issuer && { issuer }) }
  const done = await askRegistry<{ package_name: string; status: TransferStatus }>('transfer', params)
  if (json) return print(done)
  const { package_name, status } = done
  const effect = {
    offered: `is offered to ${to}, who gets it by accept-transfer`,
    withdrawn: 'is offered to nobody',
    transferred: `belongs to ${to}`,
  }
  print(`${package_name} ${effect[status]}`)
}

export async function acceptTransfer(agent: string, json: boolean): Promise<void> {
  const entry = await askRegistry<EntryDetail>('accept_transfer', { agent })
  print(json ? entry : `${entry.package_name} is yours`)
}

export async function listTransfers({ made = false }: { made?: boolean }, json: boolean): Promise<void> {
  const page = await askRegistry<TransferPage>('list_transfers', { made, limit: 100 })
  if (json) return print(page)
  const rows = page.offers.map(({ package_name, from, to, offered_at }) => {
    return [package_name, nameOf(from, 'nobody'), nameOf(to, 'nobody'), offered_at]
  })
  await printTable(offerColumns, rows)
  if (rows.length === 0)
    say(made ? 'You have offered no agent to anybody.' : 'Nobody has offered you an agent.')
}

const offerColumns: readonly Column[] = [
  { title: 'NAME', style: bold, elastic: true },
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'OFFERED', dropped: 1 },
]

export async function suspend(
  agent: string,
  { reason, lift = false }: { reason?: string; lift?: boolean },
  json: boolean,
): Promise<void> {
  if (reason === undefined && !lift) {
    throw new Failure('invalid_request', 'Give --reason: the owner of the agent sees it.')
  }
  const params = { agent, suspended: !lift, reason }
  const entry = await askRegistry<EntryDetail>('suspend', params)
  print(json ? entry : `${entry.package_name} ${lift ? 'is listed again' : 'is suspended'}`)
}

/** Prints the suspended agents, or those that mirrors hide, page by page up to the limit. */
export async function listSuspensions(
  { limit: text, removed = false }: { limit: string; removed?: boolean },
  json: boolean,
): Promise<void> {
  const limit = readNumber('--limit', text, 1, 10_000)
  const params = { by: removed ? 'source' : 'admin' }
  const { items: agents, last } = await readPages<SuspensionPage, SuspensionPage['agents'][number]>(
    { action: 'list_suspensions', params, limit },
    (page) => page.agents,
  )
  if (json) return print({ agents, next_cursor: last.next_cursor })
  const rows = agents.map(({ package_name, owner, state, deleted, suspended, suspended_by }) => [
    package_name,
    nameOf(owner, 'nobody'),
    deleted ? 'deleted' : state,
    toSecond(suspended.at),
    nameOf(suspended_by, removed ? 'its source' : 'unknown'),
    suspended.reason,
  ])
  await printTable(suspensionColumns, rows)
  if (rows.length === 0) say(removed ? 'No source has removed an agent.' : 'No agent is suspended.')
  if (last.next_cursor !== null) say('There are more: --limit shows up to 10000.')
}

const suspensionColumns: readonly Column[] = [
  { title: 'NAME', style: bold },
  { title: 'OWNER', dropped: 3 },
  { title: 'STATE', style: coloured, dropped: 1 },
  { title: 'SINCE', dropped: 4 },
  { title: 'BY', dropped: 2 },
  { title: 'REASON', elastic: true },
]

export async function report(
  agent: string,
  { reason, detail }: { reason: string; detail?: string },
  json: boolean,
): Promise<void> {
  const done = await askRegistry('report', { agent, reason, ...(detail && { detail }) })
  print(json ? done : `${agent} is reported`)
}

/** Prints how often an agent was called on each of the last days. */
export async function calls(agent: string, text: { days: string }, json: boolean): Promise<void> {
  const params = { agent, days: readNumber('--days', text.days, 1, 366) }
  const history = await askRegistry<CallHistory>('get_call_history', params)
  if (json) return print(history)
  const { from, to, days, total } = history
  if (days.length === 0) return say(`Nobody called it from ${from} to ${to}.`)
  const row = (first: string, counts: CallCounts) => [
    first,
    ...[counts.calls, counts.refused, counts.failed].map(String),
  ]
  await printTable(
    [{ title: 'DAY' }, { title: 'CALLS' }, { title: 'REFUSED' }, { title: 'FAILED' }],
    [...days.map((counts) => row(counts.date, counts)), row('total', total)],
  )
}

/** Prints the log of an agent, or as an admin that of all agents. */
export async function audit(
  agent: string | undefined,
  { limit: text, action }: { limit: string; action?: string },
  json: boolean,
): Promise<void> {
  const limit = readNumber('--limit', text, 1, 10_000)
  if (agent !== undefined && action !== undefined) {
    throw new Failure('invalid_request', 'Give an agent or --action: the log of one agent is short.')
  }
  const { items: events, last } = await readPages<EventPage, EventPage['events'][number]>(
    agent === undefined
      ? { action: 'list_events', params: { action }, limit }
      : { action: 'audit', params: { agent }, limit },
    (page) => page.events,
  )
  if (json) return print({ events, next_cursor: last.next_cursor })
  await printTable(
    [
      { title: 'TIME' },
      ...(agent === undefined ? [{ title: 'AGENT' }] : []),
      { title: 'EVENT', style: bold },
      { title: 'BY', dropped: 1 },
      { title: 'REVISION', dropped: 3 },
      { title: 'WHAT', elastic: true, dropped: 2 },
    ],
    events.map((event) => [
      toSecond(event.at),
      ...(event.agent === undefined ? [] : [event.package_name ?? event.agent]),
      event.action,
      nameOf(event.actor, 'the gateway'),
      event.revision === null ? '' : `r${event.revision}`,
      whatOf(event),
    ]),
  )
  if (events.length === 0) say('There are no such events.')
  if (last.next_cursor !== null) say('There are older events: --limit shows up to 10000.')
}

/** The subject, with its issuer where that is not the gateway: commands need both to name the person. */
function nameOf(person: Actor | undefined, nobody: string): string {
  if (!person) return nobody
  const { subject, issuer } = person
  return issuer === localIssuer ? subject : `${subject} (${issuer})`
}

interface EventPage {
  readonly events: readonly (AuditEvent & Partial<RegistryEvent>)[]
  readonly next_cursor: string | null
}

/** A time without the fractions of its second. */
function toSecond(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/** The reason, and the names of the changed fields. */
function whatOf({ reason, before, after }: AuditEvent): string {
  return [reason, Object.keys(before === null ? {} : (after ?? {})).join(', ')].filter(Boolean).join(' · ')
}
