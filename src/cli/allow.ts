import type { Approval, ApprovalList, ApprovalReport, ApprovedPackage } from '../../schemas/approval.ts'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import { quotedName } from '../../schemas/text.ts'
import { assignments, asWord } from '../common/ascii.ts'
import { ask, openClient } from './client.ts'
import { confirm, readText } from './input.ts'
import { bold, marked, print, printTable, say } from './output.ts'
import { readPages } from './pages.ts'
import { showWaiting } from './progress.ts'
import { askRegistry } from './send.ts'

interface AllowOptions {
  readonly host?: readonly string[]
  readonly env?: readonly string[]
  readonly arg?: readonly string[]
  readonly scripts?: boolean
  readonly yes?: boolean
}

/** Shows what a package is, asks, and lets this gateway run it. `more`: arguments after those that it states. */
export async function allow(
  reference: string,
  more: readonly string[],
  options: AllowOptions,
  json: boolean,
): Promise<void> {
  const [, agent = reference, version] = /^(.+)@([^@]+)$/.exec(reference) ?? []
  const input = {
    agent,
    ...(version !== undefined && { version }),
    variables: await readValues('--env', options.env),
    arguments: await readValues('--arg', options.arg),
    more_arguments: [...more],
    hosts: [...(options.host ?? [])],
    scripts: options.scripts ?? false,
  }
  await using client = await openClient()
  const approve = async (params: object) => {
    using _waiting = showWaiting()
    return await ask<ApprovalReport>(client, 'approve_package', { ...input, ...params })
  }
  const plan = await approve({ dry_run: true })
  if (!json) for (const line of linesOf(plan)) print(line)
  const isSure = options.yes || (await confirm('Let this gateway run it?', 'give --yes, once you trust it'))
  if (!isSure) return say('Nothing was allowed.')
  if (!json) say('Installing it, and starting it once…')
  const done = await approve({ integrity: plan.package.integrity })
  if (done.problem !== null) process.exitCode = 1
  if (json) return print(done)
  const { tools, problem } = done
  if (tools === null) print(`It is allowed, but did not start: ${marked(problem ?? '')}`)
  else
    print(
      `It is allowed. It has ${counted(tools.length, 'tool')}: ${tools.map(({ name }) => quotedName(name)).join(', ')}`,
    )
}

/** `NAME=VALUE`, `NAME=@file` or `NAME=-` for standard input, so that a secret stands in no list of processes. */
async function readValues(option: string, texts: readonly string[] = []): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) throw new Failure('invalid_request', `${option} takes NAME=VALUE, NAME=@FILE or NAME=-.`)
    const value = text.slice(at + 1)
    const isFile = value === '-' || value.startsWith('@')
    const read = isFile ? (await readText(value.replace(/^@/, ''))).replace(/\r?\n$/, '') : value
    values[text.slice(0, at)] = read
  }
  return values
}

function* linesOf({
  agent,
  publisher,
  package: source,
  sandbox,
  ...report
}: ApprovalReport): Generator<string> {
  yield bold(agent)
  yield `  package    ${source.registry_type} ${source.identifier} ${source.version}`
  yield `  published  ${report.published_at ?? 'at an unknown time'}, by ${publisher ?? 'somebody who has not claimed it here'}`
  yield `  digest     ${source.integrity}`
  yield `  arguments  ${source.arguments.map(asWord).join(' ') || 'none'}`
  yield `  variables  ${assignments(source.variables) || 'none'}`
  yield `  values     ${source.values.map(shownValue).join(', ') || 'none'}`
  yield `  network    ${source.hosts.join(', ') || 'none'}`
  const scripts = source.scripts ? 'run' : 'do not run'
  yield `  sandbox    ${sandbox.kind === 'none' ? 'NONE: it has all rights of this gateway' : sandbox.kind}; install scripts ${scripts}`
  for (const limit of sandbox.not_limited) yield `             not limited: ${limit}`
  for (const warning of report.warnings) yield `  WARNING    ${warning}`
  if (report.missing.length > 0)
    yield `  missing    ${report.missing.map(quotedName).join(', ')}: each caller has to store its own`
}

function shownValue({ name, secret, value }: ApprovedPackage['values'][number]): string {
  if (secret) return `${quotedName(name)} (secret)`
  return value === null ? quotedName(name) : `${quotedName(name)}=${asWord(value)}`
}

export async function listAllowed(json: boolean): Promise<void> {
  const { items: approvals } = await readPages<ApprovalList, Approval>(
    { action: 'list_approvals' },
    (page) => page.approvals,
  )
  if (json) return print({ approvals })
  await printTable(
    [
      { title: 'AGENT', style: bold },
      { title: 'PACKAGE' },
      { title: 'NETWORK', dropped: 2 },
      { title: 'FOR', dropped: 3 },
      { title: 'ALLOWED', dropped: 1 },
      { title: 'CHANGED', elastic: true },
    ],
    approvals.map(({ agent, package: source, callers, approved_at, difference }) => [
      agent,
      `${source.registry_type} ${source.identifier} ${source.version}`,
      source.hosts.join(', ') || 'none',
      callers === 'own' ? 'you' : 'all',
      approved_at.slice(0, 10),
      difference ?? '',
    ]),
  )
  if (approvals.length === 0) say('No package is allowed. To let this gateway run one: dragoman allow NAME')
}

export async function disallow(agent: string, json: boolean): Promise<void> {
  const done = await askRegistry('revoke_approval', { agent })
  print(json ? done : `${agent} does not run here any more`)
}
