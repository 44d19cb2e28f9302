import type { EntryDetail } from '../../schemas/card.ts'
import { derivedName } from '../../schemas/derived-name.ts'
import { Failure } from '../../schemas/failure.ts'
import { hasServerSchema, isServerDocument } from '../../schemas/server-document.ts'
import { publicAddress } from './address.ts'
import { lineOfFinding } from './findings.ts'
import { canAsk, confirm, readNumber, readObject } from './input.ts'
import { coloured, print, say } from './output.ts'
import { askRegistry } from './send.ts'

interface Revision {
  readonly revision?: string
}

/**
 * Creates an agent from a file. For a name that is the caller's already, offers to update the agent. A server.json
 * publishes a version, live at once.
 */
export async function publish(file: string, { live }: { live?: boolean }, json: boolean): Promise<void> {
  const publication = await readObject(file)
  if (isServerDocument(publication)) {
    await askRegistry('publish_server', { server: publication })
    const agent = derivedName(String(publication.name))
    return await show(await askRegistry<EntryDetail>('get_agent', { agent }), json)
  }
  const entry = await created(publication, file)
  if (!entry) return
  const { warnings } = entry
  const listed = live && (await listedAs(entry))
  await show(listed ? { ...listed, ...(warnings && { warnings }) } : entry, json)
}

/** Throws a Failure which says that the agent is published, where it may not go live. */
async function listedAs({ id, package_name }: EntryDetail): Promise<EntryDetail> {
  try {
    return await askRegistry<EntryDetail>('go_live', { agent: id })
  } catch (fault) {
    const { code, message, details } = Failure.from(fault)
    const next = `${package_name} is published, in STAGE. Once this is mended: dragoman go-live ${package_name}`
    const hint = details.hint === undefined ? next : `${details.hint} ${next}`
    throw new Failure(code, message, { ...details, hint }, fault)
  }
}

async function created(publication: Record<string, unknown>, file: string): Promise<EntryDetail | undefined> {
  try {
    return await askRegistry<EntryDetail>('publish', publication)
  } catch (fault) {
    const own = fault instanceof Failure && fault.code === 'conflict' && (await ownEntry(publication))
    if (!own) throw fault
    const command = `dragoman update ${own} ${file}`
    const taken = new Failure('conflict', `You have an agent ${own} already.`, {
      hint: `To change it: ${command}`,
    })
    // Standard input is read already, and cannot answer.
    if (file === '-' || !canAsk()) throw taken
    if (await confirm(`You have an agent ${own} already. Update it?`, command))
      return await askRegistry<EntryDetail>('update', { agent: own, ...publication })
    say('Nothing was changed.')
    return undefined
  }
}

/** The name of the entry in the way, if the caller may change it: only then an entry names its owner. */
async function ownEntry({ package_name }: Record<string, unknown>): Promise<string | undefined> {
  if (typeof package_name !== 'string') return undefined
  const entry = await askRegistry<EntryDetail>('get_agent', { agent: package_name }).catch(() => undefined)
  return entry?.owner?.subject === undefined ? undefined : entry.package_name
}

/** Changes the fields that a file has, and leaves the others. */
export async function update(agent: string, file: string, options: Revision, json: boolean): Promise<void> {
  const publication = await readObject(file)
  if (hasServerSchema(publication)) {
    throw new Failure(
      'invalid_request',
      'A server.json cannot update an agent: it always is a new version.',
      {
        hint: `To publish it as a new version: dragoman publish ${file}`,
      },
    )
  }
  await show(await askRegistry<EntryDetail>('update', { agent, ...publication, ...expected(options) }), json)
}

export async function goLive(agent: string, options: Revision, json: boolean): Promise<void> {
  await show(await askRegistry<EntryDetail>('go_live', { agent, ...expected(options) }), json)
}

export async function unpublish(agent: string, options: Revision, json: boolean): Promise<void> {
  await show(await askRegistry<EntryDetail>('unpublish', { agent, ...expected(options) }), json)
}

interface Deprecating extends Revision {
  readonly message?: string
  readonly successor?: string
  readonly undo?: boolean
}

/** Marks an agent as not for new use, or withdraws the mark. */
export async function deprecate(agent: string, options: Deprecating, json: boolean): Promise<void> {
  const { message, successor, undo = false } = options
  if (undo && (message !== undefined || successor !== undefined)) {
    throw new Failure('invalid_request', 'Give --undo alone, or --message and --successor.')
  }
  const entry = await askRegistry<EntryDetail>('deprecate', {
    agent,
    deprecated: !undo,
    message,
    successor,
    ...expected(options),
  })
  if (json) return print(entry)
  const { package_name } = entry
  print(undo ? `${package_name} is not deprecated any more` : `${package_name} is deprecated`)
  if (!undo) say(`It still answers. To withdraw this: dragoman deprecate ${package_name} --undo`)
}

/** Deletes an agent, after a question. */
export async function remove(
  agent: string,
  { yes = false, ...options }: Revision & { readonly yes?: boolean },
  json: boolean,
): Promise<void> {
  if (!yes && !(await confirm(`Delete ${agent}? Its name stays reserved for you.`, 'give --yes to delete'))) {
    return say('Nothing was deleted.')
  }
  await askRegistry('delete', { agent, ...expected(options) })
  print(json ? { deleted: agent } : `${agent} is deleted`)
}

function expected({ revision }: Revision): { expected_revision?: number } {
  if (revision === undefined) return {}
  return { expected_revision: readNumber('--revision', revision, 0, Number.MAX_SAFE_INTEGER) }
}

/** Prints what an entry became, what is wrong with it, and what comes next. */
async function show(entry: EntryDetail, json: boolean): Promise<void> {
  if (json) return print(entry)
  const { package_name, state, version, id, suspended } = entry
  print(`${package_name} ${coloured(state)} ${version === null ? '' : `${version} `}${id}`)
  const { manifest, reading, warnings = [] } = entry
  for (const finding of [...(manifest?.findings ?? []), ...(reading?.findings ?? []), ...warnings])
    say(lineOfFinding(finding))
  if (suspended) say(`It is hidden until an admin lifts its suspension: ${suspended.reason}`)
  else if (state === 'STAGE')
    say(`Only you see it. To list it for everybody: dragoman go-live ${package_name}`)
  else say(`Its public address is ${await publicAddress(package_name)}`)
}
