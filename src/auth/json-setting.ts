import { readFile } from 'node:fs/promises'
import type { Failure } from '../../schemas/failure.ts'

/** The value of a setting that is JSON, or the path of a file that holds it. `wrong` makes the error of the setting. */
export async function readJsonSetting(
  setting: string,
  wrong: (what: string, cause: unknown) => Failure,
): Promise<unknown> {
  const text = /^\s*[[{]/.test(setting)
    ? setting
    : await readFile(setting, 'utf8').catch((fault) => {
        throw wrong(`${setting} cannot be read.`, fault)
      })
  try {
    return JSON.parse(text)
  } catch (fault) {
    throw wrong('It is not JSON.', fault)
  }
}
