import { join, resolve } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { issueText } from '../../schemas/issue-text.ts'
import { nearest } from '../../schemas/nearest.ts'
import { configPath, ofThisProcess, readConfigFile, shareable } from './config-file.ts'
import { type Settings, settings } from './settings.ts'
import { readSignedIn, signedInPath } from './signed-in.ts'
import {
  type Environment,
  earlierDataFolder,
  platformDataFolder,
  type UserFolders,
  userFolders,
} from './user-folders.ts'

/** Who may take an agent live: strangers publish where people log in. */
export function nameMode({
  DRAGOMAN_NAMES,
  DRAGOMAN_LOGINS,
}: Pick<Config, 'DRAGOMAN_NAMES' | 'DRAGOMAN_LOGINS'>) {
  return DRAGOMAN_NAMES ?? (DRAGOMAN_LOGINS === undefined ? 'open' : 'proof')
}

/** The hosted agents that need a setting. */
export const agentsWithSettings = ['svc.utility.wiki']

/** Those of them that lack it: each of their actions answers `not_configured`. */
export function unconfiguredAgents({
  DRAGOMAN_CONTACT,
}: Pick<Config, 'DRAGOMAN_CONTACT'>): readonly string[] {
  return DRAGOMAN_CONTACT === undefined ? agentsWithSettings : []
}

/** The configuration, parsed. Paths are absolute. */
export interface Config extends Settings {
  readonly data: string
  /** The data folder of this platform. */
  readonly usual_data: string
  readonly config_path: string
  /** Every setting that is set, as text, for other programs that use the same data. */
  readonly shared: Readonly<Record<string, string>>
  /** Names of all settings that the environment or the file sets. */
  readonly set: readonly string[]
  /** Names of those that the file lacks or states otherwise. */
  readonly only_here: readonly string[]
}

/** The settings that say which database is used. */
export type StoreSettings = Pick<Config, 'data' | 'DATABASE_URL'>

/** The database of the configuration. */
export function storeLocation({ data, DATABASE_URL: url }: StoreSettings): {
  path: string
  url: string | undefined
} {
  return { path: join(data, 'registry.sqlite'), url }
}

/** The variables that name the data and the settings of this process, for a process that uses the same. */
export function locationOf({ data, config_path, DRAGOMAN_CONFIG }: Config): Record<string, string> {
  return { DRAGOMAN_DATA: data, ...(DRAGOMAN_CONFIG !== undefined && { DRAGOMAN_CONFIG: config_path }) }
}

/** The file of the signing keys. */
export function keysPath({ data }: Pick<Config, 'data'>): string {
  return join(data, 'keys', 'signing.json')
}

/** The file of the key that credentials are sealed with. */
export function secretPath({ data }: Pick<Config, 'data'>): string {
  return join(data, 'keys', 'secret')
}

/** The texts of the settings: those of the environment, then those of the file. */
interface Texts {
  readonly data: string
  readonly config_path: string
  readonly from_environment: Readonly<Record<string, string>>
  readonly from_file: Readonly<Record<string, string>> | undefined
}

/**
 * Reads the environment and the file of the settings, once; a variable of the environment wins, and an empty one counts
 * as not set, also in the file. Throws Failure `invalid_request` naming each setting that is wrong or unknown.
 */
export function readConfig(environment: Environment = process.env): Config {
  const texts = readTexts(environment)
  const { data, config_path, from_environment, from_file = {} } = texts
  const unset = Object.keys(settings).filter((name) => environment[name]?.trim() === '')
  const present = { ...from_file, ...from_environment }
  for (const name of unset) delete present[name]
  const shape = Object.fromEntries(Object.entries(settings).map(([name, [type]]) => [name, type]))
  const parsed = z.object(shape).safeParse(present)
  if (!parsed.success) {
    const placeOf = (name: string) => (name in from_environment ? '' : ` It is set in ${config_path}.`)
    throw wrong(
      parsed.error.issues.map((issue) => {
        const name = String(issue.path[0])
        return { name, detail: `${issueText(issue)}${placeOf(name)}` }
      }),
    )
  }
  const values = parsed.data as Settings
  if (values.DRAGOMAN_RATE_LIMIT === 'shared' && !values.DATABASE_URL) {
    const detail = 'Calls are counted together in PostgreSQL: set DATABASE_URL too.'
    throw wrong([{ name: 'DRAGOMAN_RATE_LIMIT', detail }])
  }
  const only_here = Object.keys(shareable(from_environment)).filter(
    (name) => from_environment[name] !== from_file[name],
  )
  const usual_data = platformDataFolder(environment)
  const DRAGOMAN_URL = values.DRAGOMAN_URL ?? signedInAt(environment)
  return {
    ...values,
    ...(DRAGOMAN_URL !== undefined && { DRAGOMAN_URL }),
    data,
    usual_data,
    config_path,
    shared: shareable(present),
    set: Object.keys(present),
    only_here,
  }
}

/** The gateway at which the user is signed in, unless the environment names the data to use, or a token of another one. */
function signedInAt(environment: Environment): string | undefined {
  const isNamed = ['DRAGOMAN_URL', 'DRAGOMAN_DATA', 'DATABASE_URL', 'DRAGOMAN_TOKEN'].some(
    (name) => environment[name] !== undefined,
  )
  return isNamed ? undefined : (readSignedIn(signedInPath(userFolders(environment))).current ?? undefined)
}

function readTexts(environment: Environment): Texts {
  const from_environment = stated(Object.keys(settings).map((name) => [name, environment[name]]))
  assertNamed(Object.keys(environment).filter(isOurs), 'the environment')
  const { DRAGOMAN_DATA, DRAGOMAN_CONFIG } = from_environment
  const earlier = DRAGOMAN_DATA === undefined ? earlierDataFolder() : undefined
  const data = resolve(DRAGOMAN_DATA ?? earlier ?? platformDataFolder(environment))
  const config_path = resolve(DRAGOMAN_CONFIG ?? configPath(data))
  // Settings can name programs and models, so they are read only from a folder that the user has chosen.
  const isChosen = earlier === undefined || DRAGOMAN_CONFIG !== undefined
  const file = isChosen ? readConfigFile(config_path) : undefined
  const from_file = file && stated(Object.entries(file))
  // The default file is made at the first start; a name that is stated and leads nowhere is a mistyped one.
  if (DRAGOMAN_CONFIG !== undefined && from_file === undefined) throw noFile(config_path)
  assertNamed(Object.keys(from_file ?? {}), config_path)
  const extra = Object.keys(from_file ?? {}).filter((name) => ofThisProcess.has(name))
  if (extra.length > 0) throw wrong(extra.map((name) => ({ name, detail: 'Set it in the environment.' })))
  return { data, config_path, from_environment, from_file }
}

/** Without spaces around the texts, such as the line end of a file of variables, and without the empty ones. */
function stated(texts: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  const trimmed = texts.map(([name, text = '']) => [name, text.trim()] as const)
  return Object.fromEntries(trimmed.filter(([, text]) => text !== ''))
}

function noFile(path: string): Failure {
  const detail = `There is no file ${path}.`
  return new Failure('invalid_request', `DRAGOMAN_CONFIG: ${detail}`, {
    errors: [{ pointer: '/DRAGOMAN_CONFIG', detail }],
    hint: `Correct the name, or make the file: echo '{}' > ${path}`,
  })
}

/** The project's own tests and checks have variables with these prefixes. */
const ofTests = /^DRAGOMAN_(?:TEST|CI)_/

function isOurs(name: string): boolean {
  return name.startsWith('DRAGOMAN_') && !ofTests.test(name)
}

/** A setting that nothing reads is nearly always a misspelled one. */
function assertNamed(names: readonly string[], where: string): void {
  const unknown = names.filter((name) => !Object.hasOwn(settings, name))
  if (unknown.length === 0) return
  throw wrong(
    unknown.map((name) => {
      const [close] = nearest(name, Object.keys(settings))
      const hint = close === undefined ? '' : ` Did you mean ${close}?`
      return { name, detail: `${where} has this name, which is not a setting.${hint}` }
    }),
  )
}

function wrong(problems: readonly { readonly name: string; readonly detail: string }[]): Failure {
  const message = problems.map(({ name, detail }) => `${name}: ${detail}`).join('; ')
  return new Failure('invalid_request', `The configuration is wrong. ${message}`, {
    errors: problems.map(({ name, detail }) => ({ pointer: `/${name}`, detail })),
    hint: '`dragoman doctor --settings` describes every setting.',
  })
}

/** True for a wildcard address, which means all addresses of the machine; callers cannot use it. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** The folders of the user in the environment. */
export function readUserFolders(): UserFolders {
  return userFolders(process.env)
}

/** The programs by which the user reads long texts and opens pages. */
interface UserPrograms {
  readonly pager: string
  /** BROWSER; undefined means what the system opens pages with. */
  readonly browser: string | undefined
}

/** Reads the programs of the user from the environment. */
export function readUserPrograms(): UserPrograms {
  const { PAGER, BROWSER } = process.env
  return { pager: PAGER || 'less -FRX', browser: BROWSER || undefined }
}

/** Where the runner finds its programs, and the certificates that installations trust besides the system's. */
export function readRunnerPrograms() {
  const { PATH = '', NODE_EXTRA_CA_CERTS } = process.env
  return { path: PATH, certificates: NODE_EXTRA_CA_CERTS || undefined }
}
