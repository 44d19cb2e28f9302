import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { makePrivateFolder, privateFile } from '../common/private-file.ts'

/** Settings by the names of their environment variables, as text. */
type SettingTexts = Readonly<Record<string, string>>

/** The file of the settings, in the data folder. */
export function configPath(data: string): string {
  return join(data, 'dragoman.json')
}

const value = z.union([z.string(), z.number().transform(String), z.boolean().transform(switchOf)])
const File = z.record(z.string(), z.union([value, z.array(value).transform((items) => items.join(','))]))

/** Settings that are on or off have these words. */
function switchOf(isOn: boolean): string {
  return isOn ? 'on' : 'off'
}

/**
 * The settings in a file; undefined without the file. Lists may be arrays, and numbers JSON numbers. Throws Failure
 * `invalid_request` if the file cannot be read or is no object of settings.
 */
export function readConfigFile(path: string): SettingTexts | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const parsed = File.safeParse(parse(text, path))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = issue?.path.join('/') ?? ''
  const what = name === '' ? 'It must be a JSON object.' : `${name} must be a text, a number or a list.`
  throw new Failure('invalid_request', `The settings in ${path} are wrong. ${what}`)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    const hint = 'Run the command as the user of the gateway, who must be able to read this file.'
    throw new Failure('invalid_request', `The settings in ${path} cannot be read (${code}).`, { hint }, fault)
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (fault) {
    const where = fault instanceof Error ? ` ${fault.message}.` : ''
    throw new Failure('invalid_request', `The settings in ${path} are not JSON.${where}`, {}, fault)
  }
}

/** Settings of one process, which others do not need: where the data is, and what a client of a gateway uses. */
export const ofThisProcess: ReadonlySet<string> = new Set([
  'DRAGOMAN_DATA',
  'DRAGOMAN_CONFIG',
  'DRAGOMAN_URL',
  'DRAGOMAN_TOKEN',
])

/** The settings that a program which uses the same data needs too. */
export function shareable(texts: SettingTexts): SettingTexts {
  // Port 0 is another free one at each start.
  const isLasting = ([name, text]: [string, string]) =>
    !ofThisProcess.has(name) && !(name === 'PORT' && text === '0')
  return Object.fromEntries(Object.entries(texts).filter(isLasting))
}

/** Writes the settings, mode 600, unless the file exists; true if it wrote them. */
export async function writeFirstConfig(path: string, texts: SettingTexts): Promise<boolean> {
  makePrivateFolder(dirname(path))
  const content = `${JSON.stringify(shareable(texts), null, 2)}\n`
  try {
    await writeFile(path, content, { flag: 'wx', mode: privateFile })
    return true
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new Failure('invalid_request', `The settings cannot be written to ${path}.`, {}, fault)
  }
}
