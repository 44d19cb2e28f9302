import { z } from 'zod'

/**
 * How a package is run, as the server.json documents of the MCP registry state it, with names in snake_case (schema
 * 2025-12-11, https://static.modelcontextprotocol.io/schemas/).
 */

const text = z.string().max(4000)

const inputShape = {
  description: text.optional(),
  is_required: z.boolean().optional(),
  is_secret: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).meta({ id: 'InputFormat' }).optional(),
  default: text.optional().describe('Value that counts if the user gives none.'),
  placeholder: text.optional().describe('Example of a value.'),
  choices: z.array(z.string().max(1000)).max(200).optional(),
  value: text.optional().describe('Fixed value. Names in {braces} stand for variables.'),
}
const variableName = z.string().min(1).max(200)

/** A value that the user of a package or of an endpoint gives, or that its publisher fixes. */
export const VariableInput = z.object(inputShape).meta({ id: 'VariableInput' })
export type VariableInput = z.infer<typeof VariableInput>

/** The variables of an address or a value, by the names in its braces. */
export const Variables = z.record(variableName, VariableInput).meta({ id: 'Variables' })

/** A header or an environment variable. */
export const NamedInput = z
  .object({
    name: z.string().min(1).max(500),
    ...inputShape,
    variables: Variables.optional(),
  })
  .meta({ id: 'NamedInput' })
export type NamedInput = z.infer<typeof NamedInput>

/** A command-line argument. */
const Argument = z
  .object({
    type: z.enum(['positional', 'named']),
    name: z.string().min(1).max(500).optional().describe('Name with its dashes, of a named argument.'),
    value_hint: z.string().max(500).optional().describe('What the value of a positional argument is.'),
    is_repeated: z.boolean().optional(),
    ...inputShape,
    variables: Variables.optional(),
  })
  .meta({ id: 'Argument' })
export type Argument = z.infer<typeof Argument>

const maxInputs = 200
const Arguments = z.array(Argument).max(maxInputs)
export const NamedInputs = z.array(NamedInput).max(maxInputs)

/** How a client talks to a package that runs. */
const PackageTransport = z
  .object({
    type: z.enum(['stdio', 'streamable-http', 'sse']),
    url: z.string().max(2048).optional().describe('Names in {braces} stand for variables.'),
    headers: NamedInputs.optional(),
    variables: Variables.optional(),
  })
  .meta({ id: 'PackageTransport' })

/** A package that installs an agent: the package registry (npm, pypi, oci …) and the identifier there. */
export const Package = z
  .object({
    registry_type: z.string().min(1).max(40),
    identifier: z.string().min(1).max(2048),
    version: z.string().max(255).optional(),
    registry_base_url: z.string().max(2048).optional(),
    file_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'SHA-256 in lower-case hex.')
      .optional(),
    runtime_hint: z
      .string()
      .max(200)
      .optional()
      .describe('Program that runs it, such as npx, uvx or docker.'),
    transport: PackageTransport.optional(),
    runtime_arguments: Arguments.optional().describe('Arguments of the program that runs the package.'),
    package_arguments: Arguments.optional().describe('Arguments of the package itself.'),
    environment_variables: NamedInputs.optional(),
  })
  .meta({ id: 'Package' })
export type Package = z.infer<typeof Package>

/** No identifier needs a character that a shell reads, and none begins like an option. */
const identifier = /^[\w@.~/:+%?=&#,][\w@.~/:+%?=&#,-]*$/

/** A package as publishers state it. Lists hold identifiers that are not ones. */
export const PublishedPackage = Package.extend({
  identifier: Package.shape.identifier.regex(
    identifier,
    'Use ASCII letters, digits and @ . _ ~ / : + % ? = & # , and dashes, except at the start.',
  ),
})

/** The package without its version, as a package URL (https://github.com/package-url/purl-spec). */
export function packageUrl({
  registry_type,
  identifier,
}: Pick<Package, 'registry_type' | 'identifier'>): string {
  const name = identifier.split('/').map(encodeURIComponent).join('/')
  return `pkg:${registry_type.toLowerCase()}/${name}`
}

export function isPackageUrl(url: string): boolean {
  return url.startsWith('pkg:')
}

/** Kinds of packages that can be run here; the first one is preferred, whose sandbox starts fastest. */
const runnable = ['npm', 'pypi', 'mcpb', 'oci']

/** The package of an entry that can be run here: it speaks over its standard streams. */
export function runnablePackage({
  packages,
}: {
  readonly packages: readonly Package[]
}): Package | undefined {
  const spoken = packages.filter(({ transport }) => (transport?.type ?? 'stdio') === 'stdio')
  const rank = ({ registry_type }: Package) => Math.max(0, runnable.indexOf(registry_type.toLowerCase()) - 1)
  const candidates = spoken.filter(({ registry_type }) => runnable.includes(registry_type.toLowerCase()))
  return candidates.sort((left, right) => rank(left) - rank(right))[0]
}

const braces = /\{([^{}]+)\}/g

/** The names in braces in a text, each once. */
export function variablesIn(template: string): string[] {
  if (!template.includes('{')) return []
  return [...new Set([...template.matchAll(braces)].map(([, name = '']) => name))]
}

/**
 * A text with the fixed or default values of its variables in the place of their names; undefined if one has none,
 * so that the user has to give it.
 */
export function filledIn(
  template: string,
  variables: Readonly<Record<string, VariableInput>> = {},
): string | undefined {
  if (!template.includes('{')) return template
  const values = variablesIn(template).map((name) => [name, statedValue(variables[name])] as const)
  if (values.some(([, value]) => value === undefined)) return undefined
  const byName = new Map(values)
  return template.replaceAll(braces, (_, name: string) => byName.get(name) ?? '')
}

/** The value that needs nothing from the user: the fixed one, with its variables filled in, or the default. */
export function fixedValue({ value, default: usual, variables }: NamedInput): string | undefined {
  return value === undefined ? usual : filledIn(value, variables)
}

function statedValue(input: VariableInput | undefined): string | undefined {
  return input?.value ?? input?.default
}
