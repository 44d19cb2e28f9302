import { Failure } from '../../schemas/failure.ts'
import { type ConfigFile, HostId, hostIds } from '../../schemas/install.ts'
import { readConfig, readUserFolders } from '../app/config.ts'
import { writeFirstConfig } from '../app/config-file.ts'
import { confirm } from './input.ts'
import { type HostFile, pathOf, readHostFile, writeHostFile } from './install/host-file.ts'
import { formats } from './install/host-text.ts'
import { lineDiff } from './install/line-diff.ts'
import { type Choice, hostOf, nameOfServer, type Plan, planOf } from './install/plan.ts'
import { print, say } from './output.ts'

interface InstallFlags {
  readonly host?: string
  readonly target?: string
  readonly name?: string
  readonly scope?: string
  readonly dryRun?: boolean
  readonly remove?: boolean
  readonly replace?: boolean
  readonly yes?: boolean
  readonly manage?: boolean
}

interface Outcome {
  readonly changed: boolean
  readonly written: boolean
  readonly backup: string | null
}

/** Gives a host an agent, or this gateway: shows the change of the host's file, asks, and writes it. */
export async function install(agent: string | undefined, flags: InstallFlags, json: boolean): Promise<void> {
  const { host, scope, name } = readFlags(flags)
  const choice = { agent, host, target: flags.target, name, manage: flags.manage }
  if (flags.manage && agent !== undefined)
    throw wrong('--manage is for this gateway itself: leave the agent out.')
  const row = hostOf(host)
  if (flags.remove) {
    const file = await fileOf(host, scope)
    const server = nameOfServer(choice)
    const text = formats[row.format](file.text, file.path, server).remove(row.key)
    if (text === file.text && !json) return say(`Nothing to change: ${file.path} has no server ${server}.`)
    if (text !== file.text && !flags.replace) await assertInstalled(file, server, choice)
    return report(file, server, await change(file, text, flags, json), [], json)
  }
  const config = readConfig()
  const plan = await planOf(choice, config)
  const { install, pieces } = plan
  const [piece] = pieces
  if (install.config === null || !piece || row.files.length === 0) return printPiece(plan, json)
  const file = await fileOf(host, scope)
  const edit = formats[row.format](file.text, file.path, plan.name).add(piece)
  if (edit.replaces && !flags.replace) throw taken(file, plan.name)
  const outcome = await change(file, edit.text, flags, json)
  // The host starts this gateway with the settings of the file.
  if (outcome.written && agent === undefined && !config.DRAGOMAN_URL)
    await writeFirstConfig(config.config_path, config.shared)
  const notes = [...(install.note === null ? [] : [install.note]), ...plan.notes]
  report(file, plan.name, outcome, notes, json)
}

function readFlags({ host, scope = 'user', name }: InstallFlags) {
  const { success, data } = HostId.safeParse(host)
  if (!success) throw wrong(`--host takes ${hostIds.join(', ')}.`)
  if (scope !== 'user' && scope !== 'project') throw wrong('--scope takes user or project.')
  if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(name)) {
    throw wrong('--name takes up to 40 letters, digits, dashes and underscores.')
  }
  return { host: data, scope, name } as const
}

function wrong(message: string): Failure {
  return new Failure('invalid_request', message)
}

async function fileOf(host: HostId, scope: ConfigFile['scope']): Promise<HostFile> {
  const { files, title } = hostOf(host)
  const path = pathOf(files, scope, readUserFolders())
  if (path !== undefined) return await readHostFile(path, scope)
  throw wrong(
    files.length === 0 ? `${title} have no file that is known here.` : `${title} has no file of a project.`,
  )
}

/** Throws Failure `conflict` for a server that no target of the agent gives: somebody else put it there. */
async function assertInstalled({ text, path }: HostFile, server: string, choice: Choice): Promise<void> {
  const anyway = `If you want to remove the server ${server} all the same, add --replace.`
  const plan = await planOf(choice, readConfig()).catch((cause: unknown) => {
    const { code, message, details } = Failure.from(cause)
    const hint = [details.hint, anyway].filter(Boolean).join(' ')
    throw new Failure(code, message, { ...details, hint }, cause)
  })
  const { format } = hostOf(choice.host)
  if (plan.pieces.some(formats[format](text, path, server).isFrom)) return
  const what = choice.agent ?? 'this gateway'
  throw new Failure('conflict', `The server ${server} in ${path} is not what ${what} installs.`, {
    hint: `Another agent or a person put it there, or ${what} has changed since. ${anyway}`,
  })
}

function taken({ path }: HostFile, name: string): Failure {
  return new Failure('conflict', `${path} has another server ${name}.`, {
    hint: '--replace replaces it; --name gives the new one another name.',
  })
}

/** Shows the change and writes it, unless the user does not want it. */
async function change(file: HostFile, text: string, flags: InstallFlags, json: boolean): Promise<Outcome> {
  const outcome = { changed: text !== file.text, written: false, backup: null }
  if (!outcome.changed) return outcome
  if (!json) print(lineDiff(file.text, text, file.path))
  if (
    flags.dryRun ||
    !(
      flags.yes || (await confirm(`Write this to ${file.path}?`, 'give --yes to write, or --dry-run to look'))
    )
  )
    return outcome
  return { changed: true, written: true, backup: await writeHostFile(file, text) }
}

function report(
  file: HostFile,
  name: string,
  outcome: Outcome,
  notes: readonly string[],
  json: boolean,
): void {
  const { changed, written, backup } = outcome
  if (json) print({ file: file.path, name, changed, written, backup, notes })
  if (json) return
  if (!changed) say(`Nothing to change in ${file.path}.`)
  else if (!written) say('Nothing was written.')
  else say(backup === null ? `Wrote ${file.path}.` : `Wrote ${file.path}; the file as it was is ${backup}.`)
  for (const note of notes) say(note)
}

/** For hosts whose file is not known here, and for what the user installs by hand. */
function printPiece({ name, install, notes }: Plan, json: boolean): void {
  const { text, command, note, config } = install
  const all = note === null ? notes : [note, ...notes]
  print(json ? { file: null, name, config, command, notes: all } : (text ?? command ?? '').trimEnd())
  if (!json) for (const line of all) say(line)
}
