import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import type { Failure, FieldError } from '../../schemas/failure.ts'
import { issueText } from '../../schemas/issue-text.ts'
import { pointer } from '../../schemas/shape.ts'

/** What is wrong with a setting, beside its description. */
export interface SettingFault {
  readonly errors?: readonly FieldError[]
  readonly cause?: unknown
}

/**
 * The value of a setting that is JSON, or the path of a file that holds it. Throws what `wrong` makes: the error of the
 * setting, which names each invalid member.
 */
export async function readJsonSetting<Shape extends z.ZodType>(
  setting: string,
  shape: Shape,
  wrong: (what: string, fault: SettingFault) => Failure,
): Promise<z.output<Shape>> {
  const parsed = shape.safeParse(await readJson(setting, wrong))
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({
    pointer: pointer(issue.path),
    detail: issueText(issue),
  }))
  const what = errors.map((error) => `${error.pointer || 'The whole'}: ${error.detail}`).join('; ')
  throw wrong(what, { errors })
}

async function readJson(
  setting: string,
  wrong: (what: string, fault: SettingFault) => Failure,
): Promise<unknown> {
  const text = /^\s*[[{]/.test(setting)
    ? setting
    : await readFile(setting, 'utf8').catch((cause) => {
        throw wrong(`${setting} cannot be read.`, { cause })
      })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw wrong('It is not JSON.', { cause })
  }
}
