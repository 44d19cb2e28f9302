import { mapFields, type PublishedField, publishedFields } from '../../../schemas/entry-fields.ts'
import type { Capability } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { jsonBytes } from '../../common/json.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { type CardSource, cardOf } from '../cards/render-card.ts'

/**
 * Maximum size of an entry, in bytes of JSON. A quarter of the longest answer (`stringify`), so every transport can
 * answer every entry, with the fields that the registry adds and with its capabilities in a second form.
 */
export const maxEntryBytes = 256 * 1024

/** Fields that make up more than this share of the bound are named to the caller. */
const largeShare = 0.1

/** Its addresses are added when an entry is read, and belong to no entry. */
const noSite = { base_url: '', site_url: '' }

/**
 * The size of an entry: of what its publisher states and of its card, both as `get_agent` answers them. A card that the
 * registry renders repeats the capabilities.
 */
export function entryBytes(entry: CardSource): number {
  const card = cardOf({ ...entry, deprecated: null }, noSite)
  return jsonBytes({ ...mapFields(publishedFields, (field) => entry[field]), card })
}

/**
 * Throws Failure `too_large` for an entry above the bound. An entry that was above it before may still be hidden, taken
 * over, deprecated, and changed so that it does not grow.
 */
export function assertEntrySize(entry: StoredEntry, before?: StoredEntry): void {
  if (entry.deleted) return
  const bytes = entryBytes(entry)
  if (bytes <= maxEntryBytes) return
  const goesLive = entry.state === 'ACTIVE' && before?.state !== 'ACTIVE'
  if (before && !before.deleted && !goesLive && bytes <= entryBytes(before)) return
  throw new Failure(
    'too_large',
    `${entry.package_name} would be ${bytes} bytes as get_agent answers it; an entry has at most ${maxEntryBytes}.`,
    {
      errors: largeFields(entry),
      hint: 'Shorten these fields. Without a card of its own, the card of an agent repeats its capabilities.',
    },
  )
}

function largeFields(entry: StoredEntry): { pointer: string; detail: string }[] {
  const fields: (PublishedField | 'card')[] = [...publishedFields, 'card']
  const sizes = fields.map((field) => ({ field, bytes: jsonBytes(entry[field]) }))
  return sizes
    .filter(({ bytes }) => bytes > largeShare * maxEntryBytes)
    .sort((left, right) => right.bytes - left.bytes)
    .map(({ field, bytes }) => ({ pointer: `/${field}`, detail: `It has ${bytes} bytes.` }))
}

/** The first capabilities with which an entry is within the bound; undefined if it is above the bound without any. */
export function fittingCapabilities(entry: StoredEntry): Capability[] | undefined {
  const { capabilities } = entry
  const fits = (count: number) =>
    entryBytes({ ...entry, capabilities: capabilities.slice(0, count) }) <= maxEntryBytes
  if (fits(capabilities.length)) return capabilities
  if (!fits(0)) return undefined
  let [fitting, excess] = [0, capabilities.length]
  while (excess - fitting > 1) {
    const middle = Math.floor((fitting + excess) / 2)
    if (fits(middle)) fitting = middle
    else excess = middle
  }
  return capabilities.slice(0, fitting)
}
