import { isVariableName } from '../../common/variable-names.ts'
import { askPublisher, refuse } from './refuse.ts'
import { literalOf, type Template } from './template.ts'
import { checkVariableName } from './variable-rules.ts'

/** An argument of the program that runs a package, with the place where it is stated. */
export interface Token {
  readonly text: Template
  readonly pointer: string
}

/** What the stated arguments of a runtime come to. */
interface RuntimeArguments {
  readonly args: readonly Template[]
  /** Variables that the container gets, with their values if they are stated. */
  readonly env: readonly { readonly name: string; readonly value?: Template; readonly pointer: string }[]
  /** What follows the package's own name: arguments of the package. */
  readonly rest: readonly Template[]
}

type Rule =
  /** Stands in the command anyway, or changes nothing there. */
  'drop' | { readonly value: (value: Template) => Template | undefined } | 'env'

/**
 * The options that stated runtime arguments may hold. All others are refused: an option of the runtime can run other
 * code (`--require`), take packages from elsewhere (`--registry`) or open the machine to a container (`--privileged`).
 */
const rules: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  npm: { '-y': 'drop', '--yes': 'drop', '-q': 'drop', '--quiet': 'drop' },
  pypi: { '-q': 'drop', '--quiet': 'drop', '--python': { value: matching(/^\d+(\.\d+){0,2}$/) } },
  nuget: { '--yes': 'drop', '-y': 'drop', '--prerelease': { value: () => undefined } },
  oci: {
    run: 'drop',
    '-i': 'drop',
    '--interactive': 'drop',
    '--rm': 'drop',
    '--init': 'drop',
    '-e': 'env',
    '--env': 'env',
    '-v': { value: volume },
    '--volume': { value: volume },
    '--mount': { value: mount },
    '-p': { value: published },
    '--publish': { value: published },
    '-u': { value: user },
    '--user': { value: user },
    '--network': { value: matching(/^(none|bridge)$/) },
    '--platform': { value: matching(/^linux\/(amd64|arm64)$/) },
    '--pull': { value: matching(/^(always|missing)$/) },
  },
}

/**
 * Reads the stated arguments of a runtime. Throws Failure `not_installable` for one that is not in the list of its
 * kind of package.
 */
export function readRuntimeArguments(
  type: string,
  tokens: readonly Token[],
  isPackage: (text: string) => boolean,
): RuntimeArguments {
  const options = rules[type] ?? {}
  const args: Template[] = []
  const env: RuntimeArguments['env'][number][] = []
  for (let at = 0; at < tokens.length; at++) {
    const { text, pointer } = tokens[at] as Token
    const name = literalOf(text)
    if (name !== undefined && isPackage(name)) {
      return { args, env, rest: tokens.slice(at + 1).map((token) => token.text) }
    }
    const rule = name !== undefined && Object.hasOwn(options, name) ? options[name] : undefined
    if (rule === undefined || name === undefined) throw refused(name, pointer)
    const following = tokens[at + 1]
    if (rule === 'drop') {
      if (following && /^(true|yes)$/.test(literalOf(following.text) ?? '')) at++
      continue
    }
    if (!following) throw refuse(pointer, `${name} needs a value.`, askPublisher)
    at++
    if (rule === 'env') env.push(variable(following))
    else args.push([name], accepted(name, rule.value(following.text), following.pointer))
  }
  return { args, env, rest: [] }
}

function accepted(option: string, value: Template | undefined, pointer: string): Template {
  if (value !== undefined) return value
  throw refuse(pointer, `This value of ${option} could open your machine to the package.`, askPublisher)
}

function refused(name: string | undefined, pointer: string): Error {
  const what = name === undefined ? 'This argument' : JSON.stringify(name.slice(0, 100))
  return refuse(
    pointer,
    `${what} is not one of the arguments that a runtime may get from a package.`,
    askPublisher,
  )
}

/** `NAME`, or `NAME=value`. */
function variable({ text, pointer }: Token): RuntimeArguments['env'][number] {
  const [first = '', ...more] = text
  const [, name = '', sign, begin = ''] =
    (typeof first === 'string' && /^([^=]*)(=?)([\s\S]*)$/.exec(first)) || []
  checkVariableName(name, pointer)
  if (!isVariableName(name) || (sign === '' && more.length > 0)) {
    throw refuse(pointer, 'This is not NAME or NAME=VALUE.', askPublisher)
  }
  if (sign === '') return { name, pointer }
  return { name, value: begin === '' ? more : [begin, ...more], pointer }
}

function matching(grammar: RegExp) {
  return (value: Template) => (grammar.test(literalOf(value) ?? '') ? value : undefined)
}

const inside = String.raw`:\/[A-Za-z0-9._/-]*(?::(?:ro|rw))?$`

/** A folder that the user names, or a volume; never a folder that the publisher names. */
function volume(value: Template): Template | undefined {
  const [first, second] = value
  const literal = literalOf(value)
  if (literal !== undefined) {
    return new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.-]+${inside}`).test(literal) ? value : undefined
  }
  const isUsers = value.length === 2 && typeof first === 'object' && typeof second === 'string'
  return isUsers && new RegExp(`^${inside}`).test(second) ? value : undefined
}

function mount(value: Template): Template | undefined {
  const [first, second, third] = value
  const isUsers = value.length === 3 && typeof second === 'object'
  const isBind = typeof first === 'string' && /^type=bind,(?:source|src)=$/.test(first)
  const isTarget =
    typeof third === 'string' &&
    /^,(?:target|dst|destination)=\/[A-Za-z0-9._/-]*(?:,(?:ro|readonly))?$/.test(third)
  return isUsers && isBind && isTarget ? value : undefined
}

const loopback = '127.0.0.1:'

/** A port, which is published on this machine alone. */
function published(value: Template): Template | undefined {
  const [first, ...more] = value
  const text = value.map((piece) => (typeof piece === 'string' ? piece : '1')).join('')
  if (!/^(?:127\.0\.0\.1:)?\d{1,5}:\d{1,5}$/.test(text)) return undefined
  if (text.startsWith(loopback)) return value
  return typeof first === 'string' ? [loopback + first, ...more] : [loopback, ...value]
}

function user(value: Template): Template | undefined {
  const text = value.map((piece) => (typeof piece === 'string' ? piece : '1')).join('')
  return /^\d+(?::\d+)?$/.test(text) && !/^0(?::|$)/.test(text) ? value : undefined
}
