import { crc32 } from 'node:zlib'
import {
  type AttributeName,
  attributeNames,
  type EntryAttributes,
  isList,
  pickAttributes,
} from '../attributes.ts'
import type { VectorEntry } from '../vector-store.ts'
import { DamageError } from './damage-error.ts'
import type { ArrowTable, LanceLibrary, RecordBatch, Schema } from './library.ts'

/** One vector of an entry. */
export interface VectorRow {
  readonly id: string
  /** 0 for the entry's own vector, then those of its capabilities. */
  readonly place: number
  /** Number of rows of the entry. */
  readonly width: number
  readonly vector: Float32Array
}

export type RowName = Omit<VectorRow, 'vector'>

export const nameColumns = ['id', 'place', 'width']
export const rowColumns = [...nameColumns, 'vector']

/** The row that holds the revision of the others. The same commit writes it, so it is never ahead of them. */
export const revisionKey = 'revision'
const revisionPlace = -1

export function schemaOf(library: LanceLibrary, dimensions: number): Schema {
  const { Field, Float64, Int32, List, Schema, Utf8 } = library.arrow
  const text = new Utf8()
  const texts = new List(new Field('item', text, true))
  return new Schema([
    new Field('key', text, false),
    new Field('id', text, false),
    new Field('place', new Int32(), false),
    new Field('width', new Int32(), false),
    new Field('revision', new Float64(), true),
    ...attributeNames.map((name) => new Field(name, isList(name) ? texts : text, true)),
    new Field('sum', new Int32(), false),
    new Field('vector', vectorType(library, dimensions), false),
  ])
}

function vectorType({ arrow }: LanceLibrary, dimensions: number) {
  const { Field, FixedSizeList, Float32 } = arrow
  return new FixedSizeList(dimensions, new Field('item', new Float32(), true))
}

interface Flat extends RowName {
  readonly key: string
  readonly attributes: EntryAttributes | undefined
  readonly vector: Float32Array | undefined
}

/** The rows of these entries, and the row of the revision. */
export function toTable(
  library: LanceLibrary,
  schema: Schema,
  dimensions: number,
  entries: Iterable<readonly [id: string, entry: VectorEntry]>,
  revision: number,
): ArrowTable {
  const { makeData, RecordBatch, Struct, Table, vectorFromArray, Float32 } = library.arrow
  const rows = [revisionRow, ...flatten(entries)]
  const { length } = rows
  const numbers = new Float32Array(length * dimensions)
  for (const [index, { vector }] of rows.entries()) if (vector) numbers.set(vector, index * dimensions)
  const child = makeData({ type: new Float32(), length: numbers.length, nullCount: 0, data: numbers })
  const vectors = makeData({ type: vectorType(library, dimensions), length, nullCount: 0, child })
  const cells = rows.map((row) => cellsOf(row, revision))
  const sums = cells.map((cell, index) =>
    sumOf(cell, numbers.subarray(index * dimensions, (index + 1) * dimensions)),
  )
  const columns: Record<string, unknown[]> = { sum: sums }
  for (const name of cellColumns) columns[name] = cells.map((cell) => cell[name])
  const children = schema.fields.map(({ name, type }) => {
    const column = columns[name]
    if (!column) return vectors
    const [data] = vectorFromArray(column, type).data
    if (!data) throw new RangeError(`The column ${name} has no rows.`)
    return data
  })
  const struct = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })
  return new Table(schema, [new RecordBatch(schema, struct)])
}

const cellColumns = ['key', 'id', 'place', 'width', 'revision', ...attributeNames] as const

type Cells = Readonly<Record<(typeof cellColumns)[number], unknown>>

function cellsOf({ key, id, place, width, attributes }: Flat, revision: number): Cells {
  if (!attributes) return { ...noAttributes, key, id, place, width, revision }
  return { ...pickAttributes(attributes), key, id, place, width, revision: null }
}

const noAttributes = Object.fromEntries(attributeNames.map((name) => [name, null])) as Readonly<
  Record<AttributeName, null>
>

/** A checksum of a row. */
function sumOf(cells: Cells, { buffer, byteOffset, byteLength }: Float32Array): number {
  const text = JSON.stringify(cellColumns.map((name) => cells[name]))
  return crc32(new Uint8Array(buffer, byteOffset, byteLength), crc32(text.toWellFormed())) | 0
}

/** Throws DamageError if a row differs from what was written. */
export function verifySums(batch: RecordBatch): void {
  const children = cellColumns.map((name) => [name, batch.getChild(name)] as const)
  const sums = batch.getChild('sum')
  const vectors = vectorsOf(batch)
  for (let index = 0; index < batch.numRows; index++) {
    const cells = Object.fromEntries(
      children.map(([name, child]) => {
        const value = child?.get(index)
        return [name, isListColumn(name) && value ? [...value] : value]
      }),
    )
    if (sumOf(cells as Cells, vectors(index)) !== sums?.get(index))
      throw new DamageError('A row differs from what was written.')
  }
}

function isListColumn(column: (typeof cellColumns)[number]): boolean {
  return attributeNames.some((name) => name === column && isList(name))
}

const revisionRow: Flat = {
  key: revisionKey,
  id: '',
  place: revisionPlace,
  width: 0,
  attributes: undefined,
  vector: undefined,
}

function* flatten(entries: Iterable<readonly [string, VectorEntry]>): Generator<Flat> {
  for (const [id, { attributes, vectors }] of entries) {
    const width = vectors.length
    for (const [place, vector] of vectors.entries())
      yield { key: `${id}#${place}`, id, place, width, attributes, vector }
  }
}

/** The rows of batches, without the row of the revision. */
export function* named(batches: Iterable<RecordBatch>): Generator<RowName> {
  for (const batch of batches) for (const { name } of placed(batch)) yield name
}

export function* whole(batches: Iterable<RecordBatch>): Generator<VectorRow> {
  for (const batch of batches) {
    const vectors = vectorsOf(batch)
    for (const { name, index } of placed(batch)) yield { ...name, vector: vectors(index) }
  }
}

function vectorsOf(batch: RecordBatch): (index: number) => Float32Array {
  const [list] = batch.getChild('vector')?.data ?? []
  const numbers: Float32Array = list?.children[0]?.values
  const dimensions = numbers.length / batch.numRows
  return (index) => numbers.subarray(index * dimensions, (index + 1) * dimensions)
}

function* placed(batch: RecordBatch): Generator<{ readonly name: RowName; readonly index: number }> {
  const ids = batch.getChild('id')
  const places = batch.getChild('place')
  const widths = batch.getChild('width')
  for (let index = 0; index < batch.numRows; index++) {
    const place = places?.get(index)
    if (place === revisionPlace) continue
    yield { name: { id: ids?.get(index), place, width: widths?.get(index) }, index }
  }
}
