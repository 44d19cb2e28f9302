import { styleText } from 'node:util'
import { Failure } from '../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../schemas/json.ts'
import type { VersionPage } from '../../schemas/version.ts'
import { readNumber } from './input.ts'
import { bold, page, print, printTable, say } from './output.ts'
import { askRegistry } from './send.ts'

/** Lists the versions of an agent, the highest first. */
export async function versions(agent: string, options: { limit: string }, json: boolean): Promise<void> {
  const limit = readNumber('--limit', options.limit, 1, 100)
  const found = (await askRegistry('list_versions', { agent, limit })) as unknown as VersionPage
  if (json) return print(found)
  await printTable(
    [
      { title: 'VERSION', style: bold },
      { title: 'REVISION' },
      { title: 'PUBLISHED', dropped: 1 },
      { title: '', dropped: 2 },
    ],
    found.versions.map(({ version, revision, published_at, current }) => [
      version ?? '(none)',
      `r${revision}`,
      published_at,
      current ? 'current' : '',
    ]),
  )
  say(`${found.versions.length} of ${found.total}`)
}

interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** Shows the fields of the card that differ between two versions. */
export async function diff(agent: string, from: string, to: string, json: boolean): Promise<void> {
  const [before, after] = [await cardOf(agent, from), await cardOf(agent, to)]
  const differences = [...differencesOf('', before, after)]
  if (json) return print({ agent, from, to, differences })
  if (differences.length === 0) return say(`${from} and ${to} have the same card.`)
  await page(differences.flatMap(linesOf).join('\n'))
}

/** `r12` names a version by its revision, for versions without a version string. */
async function cardOf(agent: string, version: string): Promise<JsonObject> {
  const [, revision] = /^r(\d{1,15})$/.exec(version) ?? []
  const params = revision === undefined ? { version } : { revision: Number(revision) }
  const found = await askRegistry('resolve_package', { agent, ...params })
  const card = isRecord(found) ? found.card : undefined
  if (isRecord(card)) return card as JsonObject
  throw new Failure('upstream_invalid', 'The gateway answered without a card.')
}

function* differencesOf(field: string, before: unknown, after: unknown): Generator<Difference> {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const [old, changed] = [membersOf(before), membersOf(after)]
  if (!old || !changed) return yield { field: field || '/', before: before ?? null, after: after ?? null }
  for (const name of new Set([...Object.keys(old), ...Object.keys(changed)]))
    yield* differencesOf(`${field}/${name}`, old[name], changed[name])
}

/** Members by name; those of a list of named things, such as capabilities, by their names. */
function membersOf(value: unknown): Record<string, unknown> | undefined {
  if (isRecord(value)) return value
  if (!Array.isArray(value)) return undefined
  const names = value.map((item: unknown) => (isRecord(item) ? (item.id ?? item.name) : undefined))
  const isNamed = names.every((name) => typeof name === 'string') && new Set(names).size === names.length
  return isNamed ? Object.fromEntries(value.map((item, index) => [names[index], item])) : undefined
}

function linesOf({ field, before, after }: Difference): string[] {
  return [
    bold(field),
    ...(before === null ? [] : [styleText('red', `- ${textOf(before)}`)]),
    ...(after === null ? [] : [styleText('green', `+ ${textOf(after)}`)]),
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
