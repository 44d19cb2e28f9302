import { opendir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

const pageBytes = 4096

/**
 * Resident memory of a process and all of its descendants, by /proc; pages that they share count for each. 0 where
 * /proc cannot be read.
 */
export async function memoryOf(pid: number, proc = '/proc'): Promise<number> {
  const ids = (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name))
  const rows = await Promise.all(ids.map((id) => readProcess(join(proc, id), Number(id))))
  const children = Map.groupBy(
    rows.filter((row) => row !== undefined),
    (row) => row.parent,
  )
  const own = rows.find((row) => row?.id === pid)
  let total = 0
  const waiting = own ? [own] : []
  for (const row of waiting) {
    total += row.bytes
    waiting.push(...(children.get(row.id) ?? []))
  }
  return total
}

async function readProcess(folder: string, id: number) {
  const text = await readFile(join(folder, 'stat'), 'utf8').catch(() => '')
  // The name of the program may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 22) return undefined
  return { id, parent: Number(fields[1]), bytes: Number(fields[21]) * pageBytes }
}

/** A tree with more entries than this counts as too large, whatever their size. */
const maxEntries = 200_000

/** Bytes that the files below a folder take on disk; infinite for a tree with too many of them. */
export async function diskUsage(folder: string): Promise<number> {
  let total = 0
  let entries = 0
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const items = await opendir(path).catch(() => undefined)
    if (!items) continue
    try {
      for await (const item of items) {
        if (++entries > maxEntries) return Number.POSITIVE_INFINITY
        const child = join(path, item.name)
        if (item.isDirectory()) waiting.push(child)
        else if (item.isFile()) total += ((await stat(child).catch(() => undefined))?.blocks ?? 0) * 512
      }
    } catch {
      // The folder was removed while it was read.
    }
  }
  return total
}
