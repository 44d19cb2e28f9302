import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { RunRequest } from '../runner.ts'
import { inside } from '../sandbox/sandbox.ts'

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))])
/** A value of `user_config` in the manifest of a bundle. */
export const BundleOption = z.object({
  type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
  title: z.string().optional(),
  description: z.string().optional(),
  required: z.boolean().default(false),
  default: Value.optional(),
  multiple: z.boolean().default(false),
  sensitive: z.boolean().default(false),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type BundleOption = z.infer<typeof BundleOption>
/** What the manifest of a bundle adds to the arguments and variables of a start. */
export interface BundleLaunch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, BundleOption>>
}

/** The variable by which the value of an option is given. */
export function variableOf(option: string): string {
  return option.replaceAll(/[^A-Za-z0-9_]/g, '_')
}

const folders: ReadonlyMap<string, string> = new Map([
  ['__dirname', inside.package],
  ['HOME', inside.home],
  ['DESKTOP', `${inside.home}/Desktop`],
  ['DOCUMENTS', `${inside.home}/Documents`],
  ['DOWNLOADS', `${inside.home}/Downloads`],
  ['pathSeparator', '/'],
  ['/', '/'],
])

/** The arguments and the environment of a bundle. Throws Failure `invalid_request` for a value that it does not take. */
export function fillBundle(
  { args, env, options }: BundleLaunch,
  request: Pick<RunRequest, 'args' | 'env'>,
): Pick<RunRequest, 'args' | 'env'> {
  const values = new Map(
    Object.entries(options).map(([key, option]) => [
      `user_config.${key}`,
      valuesOf(key, option, request.env),
    ]),
  )
  const text = (template: string) =>
    template.replaceAll(/\$\{([^{}]+)\}/g, (whole, name: string) =>
      values.has(name) ? (values.get(name) ?? []).join(' ') : (folders.get(name) ?? whole),
    )
  const filled = args.flatMap((arg) => values.get(/^\$\{([^{}]+)\}$/.exec(arg)?.[1] ?? '') ?? [text(arg)])
  const isUnset = (template: string) => values.get(/^\$\{([^{}]+)\}$/.exec(template)?.[1] ?? '')?.length === 0
  const own = Object.entries(env).filter(([, template]) => !isUnset(template))
  const optionNames = new Set(Object.keys(options).map(variableOf))
  const more = Object.entries(request.env).filter(([name]) => !optionNames.has(name))
  return {
    args: [...filled, ...request.args],
    env: {
      ...Object.fromEntries(own.map(([name, template]) => [name, text(template)])),
      ...Object.fromEntries(more),
    },
  }
}

/** The values of an option: those that were given, one a line if it takes several, else its own. */
function valuesOf(key: string, option: BundleOption, env: Readonly<Record<string, string>>): string[] {
  const { type, multiple, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = option
  const stated = env[variableOf(key)]
  if (stated === undefined) {
    const usual = option.default === undefined ? [] : [option.default].flat().map(String)
    return usual.map((text) =>
      text.replaceAll(/\$\{([^{}]+)\}/g, (whole, name: string) => folders.get(name) ?? whole),
    )
  }
  const values = multiple ? stated.split('\n').filter((line) => line !== '') : [stated]
  for (const value of values) {
    const number = Number(value)
    const isWrong =
      (type === 'number' && !(value.trim() !== '' && number >= min && number <= max)) ||
      (type === 'boolean' && value !== 'true' && value !== 'false')
    if (isWrong) throw new Failure('invalid_request', `${key} takes a ${type}${rangeOf(option)}.`)
  }
  return values
}

function rangeOf({ min, max }: BundleOption): string {
  if (min === undefined && max === undefined) return ''
  return ` from ${min ?? 'any'} to ${max ?? 'any'}`
}
