import { isDeepStrictEqual } from 'node:util'
import type { ApprovedPackage, ApprovedValue } from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { InstallNeed } from '../../../schemas/install.ts'
import { type Argument, type NamedInput, type Package, runnablePackage } from '../../../schemas/package.ts'
import { quotedName } from '../../../schemas/text.ts'
import { isVariableName } from '../../common/variable-names.ts'
import { checkPackage } from '../install/package-kinds.ts'
import { packageContent } from '../install/package-launch.ts'
import { refuse } from '../install/refuse.ts'
import { Needs, type Template, write } from '../install/template.ts'
import { checkVariableName } from '../install/variable-rules.ts'

type RegistryType = ApprovedPackage['registry_type']

/** The names for which somebody gave values. */
interface GivenNames {
  readonly variables: readonly string[]
  readonly arguments: readonly string[]
}

/** What the package of an entry wants to be started with. */
export interface Demand {
  readonly registry_type: RegistryType
  readonly identifier: string
  /** As its registry names it: the identifier, for an image with the host of its registry. */
  readonly reference: string
  /** As the entry states it; undefined for none and for `latest`. */
  readonly version: string | undefined
  readonly file_sha256: string | undefined
  readonly args: readonly Template[]
  readonly env: readonly { readonly name: string; readonly value: Template; readonly required: boolean }[]
  readonly values: readonly Omit<ApprovedValue, 'value'>[]
  /** The places of the values, with their choices. */
  readonly needs: readonly InstallNeed[]
}

/**
 * What the package of an entry is started with; `inputs`: the values that the package itself asks for. Variables that
 * nobody states are taken too, as secrets.
 * Throws Failure `not_callable` for an entry without a package that can be run here, `not_installable` for a package
 * that states what it must not, and `invalid_request` for a name that it does not take.
 */
export function demandOf(
  entry: Pick<EntryDetail, 'package_name' | 'packages'>,
  chosen: GivenNames,
  inputs: readonly NamedInput[] = [],
): Demand {
  const found = runnablePackage(entry)
  if (!found) {
    throw new Failure('not_callable', `${entry.package_name} has no package that can be run here.`, {
      hint: 'Packages of npm, pypi, oci and mcpb that speak over their standard streams can be run.',
    })
  }
  const stated = withInputs(found, inputs)
  const pointer = `/packages/${entry.packages.indexOf(found)}`
  const registry_type = stated.registry_type.toLowerCase() as RegistryType
  const opened = withGiven(stated, chosen)
  const needs = new Needs('package', entry.package_name)
  const isBundle = registry_type === 'mcpb'
  const checked = isBundle ? { reference: stated.identifier } : checkPackage(stated, pointer, 'any')
  const { runtime, args, env } = packageContent(opened, checked, pointer, needs)
  if (runtime.length > 0) {
    throw refuse(`${pointer}/runtime_arguments`, 'Its program wants options that a sandbox does not give.')
  }
  const variables = stated.environment_variables ?? []
  const isRequired = (name: string) =>
    variables.find((variable) => variable.name === name)?.is_required ?? false
  const needed = [...args, ...env.filter(({ name }) => isRequired(name)).map(({ value }) => value)].flat()
  return {
    registry_type,
    identifier: stated.identifier,
    reference: registry_type === 'oci' ? checked.reference : stated.identifier,
    version: stated.version === 'latest' ? undefined : stated.version,
    file_sha256: stated.file_sha256,
    args,
    env: env.map(({ name, value }) => ({ name, value, required: isRequired(name) })),
    values: needs.needs.map((need) => ({
      name: need.name,
      part: need.part === 'argument' ? 'argument' : 'environment',
      secret: need.secret,
      required: needed.includes(need),
    })),
    needs: needs.needs,
  }
}

function withInputs(stated: Package, inputs: readonly NamedInput[]): Package {
  const { environment_variables = [] } = stated
  const more = inputs.filter(({ name }) => !environment_variables.some((variable) => variable.name === name))
  return { ...stated, environment_variables: [...environment_variables, ...more] }
}

/** The package with places for the chosen values and for every secret: a caller may have stored it. */
function withGiven(stated: Package, chosen: GivenNames): Package {
  const variables = stated.environment_variables ?? []
  const names = new Set(variables.flatMap(({ name, variables = {} }) => [name, ...Object.keys(variables)]))
  const more = chosen.variables.filter((name) => !names.has(name))
  for (const name of more) {
    checkVariableName(name, '/variables')
    if (!isVariableName(name)) {
      throw new Failure('invalid_request', `${name.slice(0, 60)} is not the name of a variable.`)
    }
  }
  const open = (input: NamedInput): NamedInput => {
    const isOpen = input.is_secret || chosen.variables.includes(input.name)
    return input.value === undefined && isOpen ? { ...input, is_required: true } : input
  }
  return {
    ...stated,
    environment_variables: [
      ...variables.map(open),
      ...more.map((name) => ({ name, is_secret: true, is_required: true })),
    ],
    package_arguments: argumentsOf(stated, chosen.arguments),
  }
}

function argumentsOf({ package_arguments = [] }: Package, chosen: readonly string[]): Argument[] {
  const names = package_arguments.flatMap((argument, index) => [
    nameOf(argument, index),
    ...Object.keys(argument.variables ?? {}),
  ])
  const unknown = chosen.find((name) => !names.some((stated) => isNamed(stated, name)))
  if (unknown !== undefined) {
    throw new Failure('invalid_request', `The package states no argument ${unknown.slice(0, 60)}.`, {
      hint:
        names.length > 0
          ? `It states: ${names.map(quotedName).join(', ')}.`
          : 'Give arguments of your own after --.',
    })
  }
  return package_arguments.map((argument, index) =>
    argument.value === undefined && chosen.some((name) => isNamed(nameOf(argument, index), name))
      ? { ...argument, is_required: true }
      : argument,
  )
}

function nameOf({ name, value_hint }: Argument, index: number): string {
  return name ?? value_hint ?? `argument ${index + 1}`
}

/** True for the name of an argument, with or without its dashes. */
export function isNamed(stated: string, name: string): boolean {
  return stated === name || stated.replace(/^-+/, '') === name
}

/** The arguments of a package as people read them: names in braces stand for values. */
function writtenArguments(args: readonly Template[]): string[] {
  return args.map((template) => write(template, ({ name }) => `\${${name}}`))
}

/** What an approval pins of the statement of an entry. */
export type Pinned = Pick<ApprovedPackage, 'registry_type' | 'identifier' | 'arguments'> & {
  readonly stated_version: string | null
  readonly file_sha256: string | null
  readonly variables: Readonly<Record<string, string>>
  readonly values: readonly Omit<ApprovedValue, 'value'>[]
}

export function pinnedOf(demand: Demand): Pinned {
  const { registry_type, identifier, version = null, file_sha256 = null, args, env, values } = demand
  const variables = env.map(({ name, value }) => [name, writtenArguments([value])[0] ?? ''] as const)
  return {
    registry_type,
    identifier,
    stated_version: version,
    file_sha256,
    arguments: writtenArguments(args),
    variables: Object.fromEntries(variables),
    values,
  }
}

const words: Readonly<Record<keyof Pinned, string>> = {
  registry_type: 'another package registry',
  identifier: 'another package',
  stated_version: 'another version',
  file_sha256: 'another digest of its file',
  arguments: 'other arguments',
  variables: 'other variables',
  values: 'other values',
}

/** What an entry states otherwise than an approval pins, for people; null if nothing. */
export function differenceOf(before: Pinned, now: Pinned): string | null {
  const fields = Object.keys(words) as (keyof Pinned)[]
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], now[field]))
  if (changed.length === 0) return null
  const details = changed.map((field) => {
    const [was, is] = [before[field], now[field]].map((value) =>
      typeof value === 'string' ? quotedName(value) : JSON.stringify(value),
    )
    return `${words[field]} (${cut(was)} before, ${cut(is)} now)`
  })
  return `It states ${details.join(', ')}.`
}

function cut(text = 'none'): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
