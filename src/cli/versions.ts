import { styleText } from 'node:util'
import type { Difference, VersionDiff, VersionPage } from '../../schemas/version.ts'
import { readNumber } from './input.ts'
import { bold, page, print, printTable, say } from './output.ts'
import { askRegistry } from './send.ts'

/** Lists the versions of an agent, the highest first. */
export async function versions(agent: string, options: { limit: string }, json: boolean): Promise<void> {
  const limit = readNumber('--limit', options.limit, 1, 100)
  const found = await askRegistry<VersionPage>('list_versions', { agent, limit })
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

/** Shows the fields of the card that differ between two versions; `r12` names a version by its revision. */
export async function diff(
  agent: string,
  from: string,
  stated: string | undefined,
  json: boolean,
): Promise<void> {
  const found = await askRegistry<VersionDiff>('diff_versions', { agent, from, to: stated })
  if (json) return print({ agent, from: found.from, to: found.to, differences: found.differences })
  if (found.from !== from) say(`Several versions are ${from}: compared from the first, ${found.from}.`)
  const other = stated ?? `the current version (${found.to})`
  if (found.differences.length === 0) return say(`${found.from} and ${other} have the same card.`)
  await page(found.differences.flatMap(linesOf).join('\n'))
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
