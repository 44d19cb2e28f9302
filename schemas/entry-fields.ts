import { z } from 'zod'
import { Callable } from './callable.ts'
import { Capability, calledName, Endpoint, Protocol, State, VerificationLevel } from './entry-parts.ts'
import { notBlank, PackageName, Slug, Tag } from './names.ts'
import { Package, PublishedPackage } from './package.ts'
import { listOrOne } from './shape.ts'
import { mixesScripts, visible } from './text.ts'

/**
 * The filter of lists and searches on a field. The REST query, filters of messages, the command-line option and the
 * index are derived from it.
 */
interface FieldFilter {
  /**
   * `equals`: the field is this value. `every`: the field holds each of these values. `any`: the field is one of these
   * values. Text is compared without case.
   */
  readonly compare: 'equals' | 'every' | 'any'
  /** The name of the filter for callers; the name of the field when absent. */
  readonly name?: string
  /** The field whose values the filter selects, if that is another one. */
  readonly of?: string
  /** The value by which callers select entries whose field is null. */
  readonly none?: string
  /** The schema of the value that a caller gives. */
  readonly schema: z.ZodType
  /** The name under which answers count the field's values; without it, answers do not count them. */
  readonly facet?: string
  /**
   * The option of `dragoman search`, in the notation of commander, and its help text; without it, no option exists.
   */
  readonly option?: readonly [flags: string, help: string]
}

/** One field of an entry. */
interface EntryField {
  /** The schema of the field in a publication; absent for a field that the registry manages. */
  readonly published?: z.ZodType
  /** The schema of the stored field, if the registry's own table of managed fields does not define it. */
  readonly stored?: z.ZodType
  /** The value for an entry that states none, including entries written before the field existed. */
  readonly initial?: unknown
  readonly filter?: FieldFilter
}

const LicenseText = z.string().trim().min(1).max(200).meta(notBlank)
const licenseMeaning = 'SPDX identifier of the licence, or its name in free text. Compared without case.'

const maxCapabilityCharacters = 200_000

const Capabilities = z
  .array(visible(Capability.strict().meta({ id: 'CapabilityInput' })))
  .max(200)
  .refine((all) => textLength(all) <= maxCapabilityCharacters, {
    error: `At most ${maxCapabilityCharacters} characters of names and descriptions in all.`,
  })
  .superRefine((all, context) => {
    const places = new Map<string, number>()
    for (const [index, { id, name }] of all.entries()) {
      const called = calledName({ id, name })
      const first = places.get(called)
      if (first === undefined) places.set(called, index)
      else {
        const message = `Capability ${first} of the list has this name already, so that this one could not be called. Rename one of them, or give it an id of its own.`
        context.addIssue({ code: 'custom', path: [index, id === undefined ? 'name' : 'id'], message })
      }
    }
  })

function textLength(capabilities: readonly Capability[]): number {
  return capabilities.reduce((sum, { name, description }) => sum + name.length + description.length, 0)
}

/**
 * The only definition of an entry's fields: publications, stored entries, versions, filters, the REST query, the
 * command line, the search index and the vector stores are derived from these rows or checked against them
 * (docs/adding-a-field.md). Fields that are managed and not filtered are defined in `StoredEntry` alone.
 */
export const entryFields = {
  package_name: { published: PackageName, stored: z.string() },
  manifest_url: {
    published: visible(z.url({ protocol: /^https?$/ }).max(2048)).describe("URL of the agent's own card."),
    /** Null if the registry renders the card. */
    stored: z.string().nullable(),
    initial: null,
  },
  name: {
    published: visible(z.string().trim().min(1).max(200))
      .refine((name) => !mixesScripts(name), {
        error: 'One word mixes letters of scripts that look alike. Write it in one script.',
      })
      .meta(notBlank),
    stored: z.string(),
  },
  description: {
    published: visible(z.string().trim().min(1).max(4000)).meta(notBlank),
    stored: z.string(),
  },
  capabilities: { published: Capabilities, stored: z.array(Capability), initial: [] },
  endpoints: {
    published: z.array(visible(Endpoint.strict().meta({ id: 'EndpointInput' }))).max(20),
    stored: z.array(Endpoint),
    initial: [],
  },
  packages: {
    published: z.array(visible(PublishedPackage.strict().meta({ id: 'PackageInput' }))).max(20),
    stored: z.array(Package),
    initial: [],
  },
  tags: {
    published: z
      .array(visible(Tag))
      .max(50)
      .overwrite((tags) => [...new Set(tags)]),
    stored: z.array(z.string()),
    initial: [],
    filter: {
      compare: 'every',
      schema: listOrOne(Tag).describe('Every one of these tags.'),
      facet: 'tags',
      option: ['--tag <tag...>', 'every one of these tags'],
    },
  },
  category: {
    published: Slug.nullable(),
    stored: z.string().nullable(),
    initial: null,
    filter: {
      compare: 'equals',
      schema: Slug,
      facet: 'categories',
      option: ['--category <slug>', 'category'],
    },
  },
  target: {
    published: Slug.nullable(),
    stored: z.string().nullable(),
    initial: null,
    filter: {
      compare: 'equals',
      schema: Slug.describe('Audience of the agent, such as developer.'),
      facet: 'targets',
      option: ['--target <slug>', 'audience'],
    },
  },
  license: {
    published: visible(LicenseText).describe(licenseMeaning).nullable(),
    stored: z.string().nullable(),
    initial: null,
    filter: {
      compare: 'equals',
      schema: LicenseText.describe(licenseMeaning),
      facet: 'licenses',
      option: ['--license <license>', 'licence, such as MIT'],
    },
  },
  version: {
    published: visible(z.string().trim().min(1).max(100)).meta(notBlank).nullable(),
    stored: z.string().nullable(),
    initial: null,
  },
  state: {
    filter: {
      compare: 'equals',
      schema: State.describe('STAGE selects your own unpublished agents; it requires mine.'),
    },
  },
  owner: {
    filter: {
      compare: 'equals',
      name: 'mine',
      schema: z.boolean().describe('Only agents that you own.'),
    },
  },
  callable: {
    filter: {
      compare: 'any',
      schema: listOrOne(Callable).describe(
        'Agents of one of these kinds: hosted and open ones answer at once, stated ones were not asked yet, a package runs here once it is approved.',
      ),
      facet: 'callable',
      option: ['--callable <kind...>', 'one of these kinds, such as open or needs_key'],
    },
  },
  labels: {
    filter: {
      compare: 'any',
      of: 'tags',
      schema: listOrOne(Tag).describe('One of these tags.'),
    },
  },
  protocol: {
    filter: {
      compare: 'any',
      none: 'none',
      schema: listOrOne(z.enum([...Protocol.options, 'none']).meta({ id: 'ProtocolFilter' })).describe(
        'Agents that are called by one of these protocols; `none`: agents that state nothing.',
      ),
      facet: 'protocols',
      option: ['--protocol <protocol...>', 'one of these protocols: a2a, mcp or envelope'],
    },
  },
  publisher: {
    filter: {
      compare: 'any',
      none: 'none',
      schema: listOrOne(z.string().toLowerCase().min(1).max(253)).describe(
        'Agents of one of these domains: proved, or in the identifier at the origin of a mirrored agent; `none`: all others.',
      ),
      facet: 'publishers',
    },
  },
  package_types: {
    filter: {
      compare: 'any',
      name: 'package_type',
      schema: listOrOne(z.string().toLowerCase().min(1).max(40)).describe(
        'Agents with a package of one of these registries, such as npm or pypi.',
      ),
      facet: 'package_types',
      option: ['--package <registry...>', 'a package of one of these registries, such as npm'],
    },
  },
  verification_level: {
    filter: {
      compare: 'any',
      name: 'verification',
      schema: listOrOne(VerificationLevel).describe('Agents of one of these verification levels.'),
      facet: 'verifications',
      option: ['--verification <level...>', 'one of these levels, such as domain_verified'],
    },
  },
  live: {
    filter: {
      compare: 'equals',
      facet: 'live',
      schema: z
        .boolean()
        .describe(
          'True: agents that answer. False: agents that are unreachable, dead or stale. Agents of unknown liveness match neither.',
        ),
      option: ['--live', 'only agents that answer'],
    },
  },
  deprecated: {
    filter: {
      compare: 'equals',
      schema: z.boolean().describe('False leaves out deprecated agents.'),
    },
  },
} as const satisfies Record<string, EntryField>

type Table = typeof entryFields
type FieldsWith<Column extends keyof EntryField> = {
  [Name in keyof Table]: Table[Name] extends Record<Column, unknown> ? Name : never
}[keyof Table]

/** The fields of a publication, of which versions consist. */
export type PublishedField = FieldsWith<'published'>
/** The fields by which lists and searches filter. */
export type FilterField = FieldsWith<'filter'>
/** Fields that publishers state and searches filter by: the indexes keep them. */
export type IndexedField = PublishedField & FilterField

/** The fields whose values the index keeps for filters. */
export type AttributeField = {
  [Field in FilterField]: Table[Field]['filter'] extends { readonly of: string } ? never : Field
}[FilterField]
/** The value of such a field. */
export type FilteredValue = string | boolean | null | readonly string[]
/** What the index knows of an entry for filters: text is lower-case where they compare it without case. */
export type FilteredValues = {
  readonly [Name in AttributeField]: Name extends IndexedField
    ? Readonly<z.output<Table[Name]['stored']>>
    : FilteredValue
}

/** Published fields that lists show in a place or a form of their own (`Entry`), or not at all (`capabilities`). */
const shownApart = [
  'package_name',
  'name',
  'description',
  'manifest_url',
  'capabilities',
  'endpoints',
  'packages',
  'version',
] as const satisfies readonly PublishedField[]

/** All other published fields: lists show them as they are stored. */
type ListedField = Exclude<PublishedField, (typeof shownApart)[number]>

const names = Object.keys(entryFields) as (keyof Table)[]
const has = (name: keyof Table, column: keyof EntryField) => column in entryFields[name]

export const publishedFields = names.filter((name) => has(name, 'published')) as PublishedField[]
export const filterFields = names.filter((name) => has(name, 'filter')) as FilterField[]
export const indexedFields = filterFields.filter((name): name is IndexedField => has(name, 'published'))
export const listedFields = publishedFields.filter(
  (name): name is ListedField => !(shownApart as readonly PublishedField[]).includes(name),
)

/** Makes an object with one property for each of some fields. */
export function mapFields<Name extends keyof Table, Value>(
  fields: readonly Name[],
  value: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(fields.map((name) => [name, value(name)])) as Record<Name, Value>
}

type Schemas<Name extends keyof Table, Column extends keyof EntryField> = {
  [Field in Name]: Table[Field] extends Record<Column, infer Schema> ? Schema : never
}

/** The zod shape of the fields of a publication. */
export const publishedShape = mapFields(publishedFields, (name) => entryFields[name].published) as Schemas<
  PublishedField,
  'published'
>

/** The zod shape of the stored form of these fields. A field that an older document lacks has its initial value. */
export const storedShape = mapFields(publishedFields, (name) => {
  const { stored, initial }: EntryField & { readonly stored: z.ZodType } = entryFields[name]
  return initial === undefined ? stored : stored.default(initial)
}) as Schemas<PublishedField, 'stored'>

type InitialField = PublishedField & FieldsWith<'initial'>

/** The values of a new entry in the fields that its publisher leaves out. */
export const initialValues = mapFields(
  publishedFields.filter((name): name is InitialField => has(name, 'initial')),
  (name) => entryFields[name].initial,
) as unknown as { readonly [Name in InitialField]: z.output<Table[Name]['stored']> }

/** The filters of a search in the form for an index: an owner is its key. */
export type FilterValues = {
  readonly [Name in FilterField]?: Name extends 'owner'
    ? string
    : Readonly<z.output<Table[Name]['filter']['schema']>>
}

/** The zod shape of the fields that lists show as they are stored. */
export const listedShape = mapFields(listedFields, (name) => entryFields[name].stored) as Schemas<
  ListedField,
  'stored'
>

/** The values of some fields of an entry. */
export function pickFields<Name extends keyof Table, Entry extends { readonly [Field in Name]: unknown }>(
  fields: readonly Name[],
  entry: Entry,
): Pick<Entry, Name> {
  return mapFields(fields, (name) => entry[name]) as Pick<Entry, Name>
}

/** The filters by field, each with the name that callers use and the field whose values it selects. */
export const filters: Readonly<
  Record<FilterField, FieldFilter & { readonly name: string; readonly of: AttributeField }>
> = mapFields(filterFields, (name) => {
  const { filter }: { readonly filter: FieldFilter } = entryFields[name]
  return { name, of: name as AttributeField, ...(filter as FieldFilter & { readonly of?: AttributeField }) }
})

export const attributeFields = filterFields.filter(
  (name): name is AttributeField => filters[name].of === name,
)

type FilterName<Field extends FilterField> = Table[Field]['filter'] extends {
  readonly name: infer Name extends string
}
  ? Name
  : Field

/** The zod shape of the filters of a search. */
export const filterShape = Object.fromEntries(
  Object.values(filters).map(({ name, schema }) => [name, schema]),
) as { [Field in FilterField as FilterName<Field>]: Table[Field]['filter']['schema'] }

type Facet<Field extends FilterField> = Table[Field]['filter'] extends {
  readonly facet: infer Name extends string
}
  ? Name
  : never

/** The names of the counts of values in answers. */
export type FacetName = { [Field in AttributeField]: Facet<Field> }[AttributeField]

/** The fields whose values answers count, keyed by the name of the count. */
export const facets = Object.fromEntries(
  attributeFields.flatMap((field) =>
    filters[field].facet === undefined ? [] : [[filters[field].facet, field]],
  ),
) as Readonly<Record<FacetName, AttributeField>>

export const facetNames = Object.keys(facets) as FacetName[]
