import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import { keysPath, readConfig } from '../app/config.ts'
import type { DumpedRow } from '../store/dump-restore.ts'
import { print, say } from './output.ts'
import { openOwnStore } from './own-store.ts'

const Head = z.object({
  dragoman: z.literal('export'),
  format: z.literal(1),
  revision: z.int().nonnegative(),
  migrations: z.array(z.string()),
})
const Row = z.tuple([z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.null()]))])
const End = z.object({ end: z.literal(true), rows: z.int(), sha256: z.string() })

const batchSize = 500

/** Whether this is the first line of an export. */
export function isExport(line: string): boolean {
  return line.startsWith('{"dragoman":"export"')
}

/** Restores an export into the store of this configuration, in one transaction. `lines`: those after the first. */
export async function restore(
  first: string,
  lines: AsyncIterable<string>,
  { file, replace, json }: { readonly file: string; readonly replace: boolean; readonly json: boolean },
): Promise<void> {
  await using store = await openOwnStore({ alone: true })
  const head = parse(Head, 1, first)
  const hash = createHash('sha256').update(`${first}\n`)
  const rows = await store.dumpRestore.restore(
    { migrations: head.migrations, rows: () => rowsOf(lines, hash) },
    replace,
  )
  const { revision } = head
  print(json ? { file, revision, rows } : `${counted(rows, 'row')} up to revision ${revision} from ${file}`)
  const keys = keysPath(readConfig())
  if (!existsSync(keys)) say(`Now copy the folder keys/ of the source to ${dirname(keys)}. ${withoutKeys}`)
}

const withoutKeys =
  'A start without it makes new keys: tokens of the source are refused then, and stored credentials cannot be decrypted.'

/** Throws Failure `invalid_request` for a file that is incomplete or was changed, before the last row is written. */
async function* rowsOf(
  lines: AsyncIterable<string>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<readonly DumpedRow[]> {
  let batch: DumpedRow[] = []
  let number = 1
  let rows = 0
  for await (const line of lines) {
    number++
    if (line.startsWith('{"end":')) {
      const end = parse(End, number, line)
      if (end.rows !== rows || end.sha256 !== hash.digest('hex')) throw spoilt('Its checksum does not match.')
      yield batch
      return
    }
    hash.update(`${line}\n`)
    batch.push(parse(Row, number, line))
    rows++
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  throw spoilt('It is incomplete.')
}

function parse<T>(shape: z.ZodType<T>, number: number, line: string): T {
  try {
    return shape.parse(JSON.parse(line))
  } catch (fault) {
    throw spoilt(`Line ${number} is not a line of an export.`, fault)
  }
}

function spoilt(why: string, cause?: unknown): Failure {
  return new Failure('invalid_request', `The export cannot be used. ${why}`, {}, cause)
}
