import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Words that say nothing of what they name; as whole identifiers they are banned. */
const empty = 'one known asked told said kept some someone somebody given wanted heard hear beyond troubled'

/** Metaphors of our own for what has a name in the field; banned as a word of an identifier or of a file name. */
const metaphors =
  'grounds sight desk seat seats sitter ear vitals suspicion custody veil furniture memo door doors bell wish deed ' +
  'outlet courtesy skeleton loan truth patience patiently leftAlone saysAnew unsound unfit crowded'

/** Bounds are called `max`. */
const bounds = /^(most|longest|fewest|largest)[A-Z_]/

/** Names on the wire, in the database, in HTML or in a package, which are not ours to change. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'src/store/sql/tables.ts': ['skeleton'],
  'src/store/entries/group-commit/commit.ts': ['skeleton'],
  'bench/support/bare-publishes.ts': ['skeleton'],
  'bench/reading/sets.ts': ['groundTruth', 'ground_truth'],
}

const words = (text: string) => new Set(text.toLowerCase().split(' '))
const emptyWords = words(empty)
const metaphorWords = words(metaphors)

/** Comments, texts and regular expressions are prose and data, not names. */
const notCode =
  /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?{;\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[a-z]*/g

function isBanned(name: string): boolean {
  const parts = name.split(/(?=[A-Z])|_/).map((part) => part.toLowerCase())
  return (
    emptyWords.has(name.toLowerCase()) || bounds.test(name) || parts.some((part) => metaphorWords.has(part))
  )
}

/** Banned identifiers that a file declares or uses under its own name, each once. */
function bannedIn(text: string): string[] {
  const names = text.replaceAll(notCode, ' ').matchAll(/(?<![\w$.]|\?\.)#?[A-Za-z_$][\w$]*/g)
  return [...new Set([...names].map(([name]) => name.replace('#', '')))].filter(isBanned)
}

const files = ['schemas', 'agents', 'src', 'bench', 'test']
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !/fixtures|store\/migrations|vocabulary\.test/.test(file))

describe('names', () => {
  test("are the field's words", () => {
    const found = files.flatMap((file) =>
      bannedIn(readFileSync(join(root, file), 'utf8'))
        .filter((name) => !allowed[file]?.includes(name))
        .map((name) => `${file}: ${name}`),
    )
    expect(found).toEqual([])
  })

  test("of files are the field's words", () => {
    const found = files.filter((file) =>
      basename(file)
        .split(/[-.]/)
        .some((part) => metaphorWords.has(part)),
    )
    expect(found).toEqual([])
  })

  test.each([
    ['const known = cache.get(key)', ['known']],
    ['function seatsOf(mostSeats: number) {}', ['seatsOf', 'mostSeats']],
    ['return entries.map((one) => one.id)', ['one']],
    ["// one\nconst text = 'a door' + `kept` + answer.kept", []],
    ['readonly #desk: Desk', ['desk', 'Desk']],
  ])('%s: %j', (code, names) => {
    expect(bannedIn(code)).toEqual(names)
  })
})
