/** Above this many pairs of lines the changed part is shown as one. */
const maxPairs = 4_000_000

/** The changed lines of two texts as a unified diff without context, which may hold secrets of other servers. */
export function lineDiff(before: string, after: string, file: string): string {
  const [old, changed] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < changed.length && old[head] === changed[head]) head++
  let tail = 0
  const rest = Math.min(old.length, changed.length) - head
  while (tail < rest && old.at(-1 - tail) === changed.at(-1 - tail)) tail++
  const hunks = hunksOf(old.slice(head, old.length - tail), changed.slice(head, changed.length - tail))
  const shown = hunks.flatMap(({ at, from, removed, added }) => [
    `@@ -${range(head + at, removed.length)} +${range(head + from, added.length)} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ])
  return [`--- ${file}`, `+++ ${file}`, ...shown].join('\n')
}

interface Hunk {
  readonly at: number
  readonly from: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function range(start: number, count: number): string {
  return `${count === 0 ? start : start + 1},${count}`
}

/** Hunks by the longest common subsequence. */
function hunksOf(old: readonly string[], changed: readonly string[]): Hunk[] {
  if (old.length * changed.length > maxPairs) return [{ at: 0, from: 0, removed: old, added: changed }]
  const width = changed.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  const lengthAt = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = changed.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === changed[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
    }
  }
  const hunks: Hunk[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < changed.length) {
    const [at, from] = [row, column]
    while (row < old.length || column < changed.length) {
      if (row < old.length && column < changed.length && old[row] === changed[column]) break
      if (
        column >= changed.length ||
        (row < old.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1))
      )
        row++
      else column++
    }
    if (row > at || column > from) {
      hunks.push({ at, from, removed: old.slice(at, row), added: changed.slice(from, column) })
    }
    while (row < old.length && column < changed.length && old[row] === changed[column]) {
      row++
      column++
    }
  }
  return hunks
}
