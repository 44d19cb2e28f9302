import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../../support/command.ts'

/** A table as its files hold it, unchecked. */
export interface TableContent {
  readonly vocabulary: readonly string[]
  readonly sequences: readonly (readonly [left: number, right: number])[]
  readonly dimensions: number
  /** A row per feature. */
  readonly rows: readonly (readonly number[])[]
  readonly scales: readonly number[]
}

export const fileNames = ['vocabulary.txt', 'sequences.bin', 'rows.bin', 'scales.bin'] as const

/** Writes the table into a folder that is removed on disposal. `change` alters the manifest. */
export async function tableFolder(
  content: TableContent,
  change: Record<string, unknown> = {},
): Promise<{ path: string } & AsyncDisposable> {
  const folder = await temporaryFolder()
  const files = {
    'vocabulary.txt': Buffer.from(content.vocabulary.map((piece) => `${piece}\n`).join('')),
    'sequences.bin': toBuffer(content.sequences.flat(), (buffer, value, at) =>
      buffer.writeInt32LE(value, at),
    ),
    'rows.bin': Buffer.from(Int8Array.from(content.rows.flat()).buffer),
    'scales.bin': toBuffer(content.scales, (buffer, value, at) => buffer.writeFloatLE(value, at)),
  }
  const manifest = {
    format: 1,
    name: 'tiny',
    dimensions: content.dimensions,
    pieces: content.vocabulary.length,
    sequences: content.sequences.length,
    files: Object.fromEntries(
      fileNames.map((name) => [name, { bytes: files[name].length, sha256: hash('sha256', files[name]) }]),
    ),
    teacher: 'nobody',
    ...change,
  }
  for (const name of fileNames) await writeFile(join(folder.path, name), files[name])
  await writeFile(join(folder.path, 'manifest.json'), JSON.stringify(manifest))
  return folder
}

function toBuffer(
  values: readonly number[],
  write: (buffer: Buffer, value: number, at: number) => void,
): Buffer {
  const buffer = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) write(buffer, value, 4 * index)
  return buffer
}

/** Pseudorandom numbers, the same every time. */
function someNumbers(count: number, from: number, to: number): number[] {
  let state = 12345
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return from + (state / 2 ** 32) * (to - from)
  })
}

/** A table with random rows. */
export function someTable(
  vocabulary: readonly string[],
  sequences: TableContent['sequences'],
  dimensions = 16,
): TableContent {
  const features = vocabulary.length + sequences.length
  const values = someNumbers(features * dimensions, -128, 128).map(Math.floor)
  const rows = Array.from({ length: features }, (_, at) =>
    values.slice(at * dimensions, (at + 1) * dimensions),
  )
  return { vocabulary, sequences, dimensions, rows, scales: someNumbers(features, 0.001, 0.02) }
}

/** The vector of pieces as the format defines it, computed plainly: each sequence is spelt out and searched for. */
export function plainVector(table: TableContent, ids: readonly number[]): number[] {
  const pieces = table.vocabulary.length
  const spelt: number[][] = []
  for (const [left, right] of table.sequences)
    spelt.push([...(left < pieces ? [left] : spelt[left - pieces]!), right])
  const features = ids.filter((id) => table.vocabulary[id] !== '[UNK]')
  for (let end = 1; end <= ids.length; end++)
    for (const [j, parts] of spelt.entries())
      if (parts.length <= end && parts.every((part, at) => ids[end - parts.length + at] === part))
        features.push(pieces + j)

  const sum = new Array<number>(table.dimensions).fill(0)
  for (const feature of features)
    for (let at = 0; at < sum.length; at++)
      sum[at]! += Math.fround(table.scales[feature]!) * table.rows[feature]![at]!
  const length = Math.hypot(...sum)
  return length === 0 ? sum : sum.map((value) => value / length)
}
