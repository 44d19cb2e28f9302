import type { Argument, Package } from '../../../schemas/package.ts'
import { isVariableName } from '../../common/variable-names.ts'
import { httpLaunch } from './http-launch.ts'
import type { HostLaunch, NamedTemplate, ProcessLaunch } from './launch.ts'
import { type CheckedPackage, checkPackage, foreignRegistry } from './package-kinds.ts'
import { askPublisher, checkLiteral, refuse } from './refuse.ts'
import { readRuntimeArguments, type Token } from './runtime-arguments.ts'
import { literalOf, type Needs, type Template } from './template.ts'
import { checkVariableName } from './variable-rules.ts'

/** How a package is started. Throws Failure `not_installable` for a package that must not be. */
export function packageLaunch(stated: Package, pointer: string, needs: Needs): HostLaunch {
  if (stated.registry_type.toLowerCase() === 'mcpb') return bundle(stated, pointer)
  const checked = checkPackage(stated, pointer)
  const process = processOf(stated, checked, pointer, needs)
  const { transport } = stated
  if (!transport || transport.type === 'stdio') return process
  if (transport.url === undefined) {
    throw refuse(
      `${pointer}/transport/url`,
      'The package answers at an address and does not state it.',
      askPublisher,
    )
  }
  const endpoint = { ...transport, url: transport.url, binding: transport.type }
  return { ...httpLaunch(endpoint, `${pointer}/transport`, needs, 'loopback'), start: process }
}

function bundle({ identifier, file_sha256, registry_base_url: base }: Package, pointer: string): HostLaunch {
  const at = `${pointer}/identifier`
  checkLiteral(identifier, at)
  const url = URL.canParse(identifier) ? new URL(identifier) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.href !== identifier) {
    throw refuse(at, 'This is not the https address of a bundle.', askPublisher)
  }
  const hosts = ['github.com', 'gitlab.com']
  if (!hosts.includes(url.host)) throw foreignRegistry(url.origin, at)
  if (base !== undefined && !hosts.some((host) => base.replace(/\/+$/, '') === `https://${host}`)) {
    throw foreignRegistry(base, `${pointer}/registry_base_url`)
  }
  if (file_sha256 === undefined) {
    throw refuse(`${pointer}/file_sha256`, 'A bundle without its SHA-256 cannot be checked.', askPublisher)
  }
  return { kind: 'bundle', url: url.href, sha256: file_sha256 }
}

/** What a package is started with, whatever program runs it. */
interface PackageContent {
  /** Arguments of the program that runs it. */
  readonly runtime: readonly Template[]
  /** Arguments of the package. */
  readonly args: readonly Template[]
  readonly env: readonly NamedTemplate[]
}

/** Throws Failure `not_installable` for a statement that could run something else. */
export function packageContent(
  stated: Package,
  { reference }: Pick<CheckedPackage, 'reference'>,
  pointer: string,
  needs: Needs,
): PackageContent {
  const type = stated.registry_type.toLowerCase()
  const {
    args: runtime,
    env: more,
    rest,
  } = readRuntimeArguments(
    type,
    tokensOf(stated.runtime_arguments ?? [], `${pointer}/runtime_arguments`, needs, true),
    isPackage(stated.identifier, reference),
  )
  const own = tokensOf(stated.package_arguments ?? [], `${pointer}/package_arguments`, needs, false)
  const env = environmentOf(stated, pointer, needs)
  for (const { name, value, pointer } of more) {
    if (env.some((entry) => entry.name === name)) continue
    const place = { part: 'environment', name, pointer } as const
    env.push({ name, value: value ?? [needs.need({ is_secret: true }, place)] })
  }
  const args = [...rest, ...own.map(({ text }) => text)]
  if (args.some((text) => literalOf(text) === '--')) {
    throw refuse(
      `${pointer}/package_arguments`,
      '-- ends the options of a command; a package must not state it.',
      askPublisher,
    )
  }
  return { runtime, args, env }
}

function processOf(stated: Package, checked: CheckedPackage, pointer: string, needs: Needs): ProcessLaunch {
  const { runtime, reference } = checked
  const { runtime: options, args, env } = packageContent(stated, checked, pointer, needs)
  const isImage = stated.registry_type.toLowerCase() === 'oci'
  const passed = isImage ? env.flatMap(({ name }): Template[] => [['-e'], [name]]) : []
  const literals = (texts: readonly string[]): Template[] => texts.map((text) => [text])
  return {
    kind: 'stdio',
    command: runtime.command,
    args: [
      ...literals(runtime.before),
      ...options,
      ...passed,
      [reference],
      ...literals(runtime.after ?? []),
      ...args,
    ],
    env,
  }
}

/** True for the package's own name, which some documents repeat among the arguments of the runtime. */
function isPackage(identifier: string, reference: string): (text: string) => boolean {
  const bare = identifier.replace(/:[^:/]*$/, '')
  return (text) =>
    text === identifier ||
    text === reference ||
    text === bare ||
    text === `${identifier}@latest` ||
    (text.startsWith(`${bare}:`) && /^[\w.-]+$/.test(text.slice(bare.length + 1)))
}

/** The words that stated arguments come to. Arguments of a runtime that state no value are flags. */
function tokensOf(stated: readonly Argument[], at: string, needs: Needs, isRuntime: boolean): Token[] {
  return stated.flatMap((written, index): Token[] => {
    const argument = isRuntime ? withoutDefaults(written) : written
    const pointer = `${at}/${index}`
    const { type, name, value_hint, format } = argument
    const place = { part: 'argument', name: name ?? value_hint ?? `argument ${index + 1}`, pointer } as const
    if (type === 'positional') {
      const text = needs.valueOf(argument, place)
      return text ? [{ text, pointer }] : []
    }
    if (name === undefined) throw refuse(pointer, 'A named argument needs its name.', askPublisher)
    checkLiteral(name, `${pointer}/name`)
    const flag: Token = { text: [name], pointer: `${pointer}/name` }
    if (argument.value === undefined && (isRuntime || (argument.is_required && format === 'boolean')))
      return [flag]
    const text = needs.valueOf(argument, place)
    if (text === undefined || literalOf(text) === 'false') return []
    return format === 'boolean' && literalOf(text) === 'true' ? [flag] : [flag, { text, pointer }]
  })
}

/**
 * What the user gives to a runtime, such as a folder for a container, the user alone names: hosts put a default in
 * themselves, and nothing would check it. Variables of the container may have one.
 */
function withoutDefaults(argument: Argument): Argument {
  if (argument.name === '-e' || argument.name === '--env') return argument
  const { default: usual, choices, variables = {}, ...rest } = argument
  const open = Object.entries(variables).map(
    ([name, { default: _, choices: __, ...variable }]) => [name, variable] as const,
  )
  return {
    ...rest,
    ...(!argument.is_required && usual !== undefined && { default: usual }),
    variables: Object.fromEntries(open),
  }
}

function environmentOf(stated: Package, pointer: string, needs: Needs): NamedTemplate[] {
  const env = new Map<string, Template>()
  for (const [index, variable] of (stated.environment_variables ?? []).entries()) {
    const at = `${pointer}/environment_variables/${index}`
    const { name } = variable
    checkVariableName(name, `${at}/name`)
    if (!isVariableName(name)) {
      if (!variable.is_required && variable.value === undefined) continue
      throw refuse(`${at}/name`, 'This is not the name of an environment variable.', askPublisher)
    }
    const value = needs.valueOf(variable, { part: 'environment', name, pointer: at })
    if (value) env.set(name, value)
  }
  return [...env].map(([name, value]) => ({ name, value }))
}
