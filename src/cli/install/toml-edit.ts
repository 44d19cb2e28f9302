import { Failure } from '../../../schemas/failure.ts'

/**
 * A file of TOML whose tables are replaced as whole blocks of lines; all other lines stay as they are. Throws Failure
 * `conflict` for a file in which that could go wrong.
 */
export class TomlFile {
  readonly #lines: readonly string[]
  readonly #eol: string
  readonly #file: string

  constructor(text: string, file: string) {
    this.#file = file
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n'
    this.#lines = text.split(/\r?\n/)
    if (/"""|'''/.test(text)) throw this.#unsafe('It has texts of several lines.')
  }

  /** The lines of a table and of the tables within it; undefined if there is none. */
  get(path: readonly [string, string]): string | undefined {
    const range = this.#rangeOf(path)
    return range && `${this.#lines.slice(range.start, range.end).join('\n')}\n`
  }

  /** The text with the table in the place of the old one, or at the end; without it if there is no block. */
  with(path: readonly [string, string], block: string | undefined): string {
    const range = this.#rangeOf(path)
    const added = block === undefined ? [] : block.trimEnd().split('\n')
    const lines = range
      ? [...this.#lines.slice(0, range.start), ...added, ...this.#lines.slice(range.end)]
      : [...this.#lines]
    if (range && block === undefined && lines[range.start] === '' && (lines[range.start - 1] ?? '') === '')
      lines.splice(range.start, 1)
    if (range || block === undefined) return lines.join(this.#eol)
    const head = lines.join('\n').trimEnd()
    return [...(head === '' ? [] : [...head.split('\n'), '']), ...added, ''].join(this.#eol)
  }

  #rangeOf([table, name]: readonly [string, string]): { start: number; end: number } | undefined {
    let depth = 0
    let current: readonly string[] = []
    const own: number[] = []
    for (const [index, text] of this.#lines.entries()) {
      const line = index === 0 ? text.replace(/^\uFEFF/, '') : text
      const code = withoutTexts(line)
      const header = depth === 0 ? headerOf(line) : undefined
      if (depth === 0 && !header && !isSetting(line)) throw this.#unsafe(`Line ${index + 1} is not TOML.`)
      if (header) current = header
      else {
        if (depth === 0 && current.length <= 1 && mentions(line, current, table, name)) {
          throw this.#unsafe(`It sets ${table}.${name} in another form.`)
        }
        depth += (code.match(/[[{]/g) ?? []).length - (code.match(/[\]}]/g) ?? []).length
      }
      if (current[0] === table && current[1] === name) own.push(index)
    }
    if (depth !== 0) throw this.#unsafe('Its brackets are not even.')
    const [start] = own
    if (start === undefined) return undefined
    let end = (own.at(-1) ?? start) + 1
    if (end - start !== own.length) throw this.#unsafe(`Its tables of ${table}.${name} are not together.`)
    while (end > start + 1 && /^\s*(#.*)?$/.test(this.#lines[end - 1] ?? '')) end--
    return { start, end }
  }

  #unsafe(why: string): Failure {
    return new Failure('conflict', `${this.#file} cannot be changed safely. ${why}`, {
      hint: 'Put the piece into the file by hand: --dry-run prints it.',
    })
  }
}

const key = String.raw`(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')`
const header = new RegExp(String.raw`^\s*\[\s*(${key}(?:\s*\.\s*${key})*)\s*\]\s*(?:#.*)?$`)
const listHeader = new RegExp(String.raw`^\s*\[\[\s*(${key}(?:\s*\.\s*${key})*)\s*\]\]\s*(?:#.*)?$`)

function headerOf(line: string): string[] | undefined {
  const found = header.exec(line) ?? listHeader.exec(line)
  return found ? keysOf(found[1] ?? '') : undefined
}

function keysOf(text: string): string[] {
  return [...text.matchAll(new RegExp(key, 'g'))].map(([part]) => textOfKey(part))
}

/** The escapes of TOML are those of JSON, but for a few that stay as they are. */
function textOfKey(part: string): string {
  try {
    return part.startsWith('"') ? JSON.parse(part) : part.replace(/^'|'$/g, '')
  } catch {
    return part.slice(1, -1)
  }
}

const setting = new RegExp(String.raw`^\s*(?:#|$|${key}(?:\s*\.\s*${key})*\s*=\s*[^\s#])`)

/** True for a line that sets a member, or that says nothing. */
function isSetting(line: string): boolean {
  return setting.test(line)
}

/** True for a line outside of the tables of servers that sets a server all the same. */
function mentions(line: string, current: readonly string[], table: string, name: string): boolean {
  const found = new RegExp(String.raw`^\s*(${key}(?:\s*\.\s*${key})*)\s*=`).exec(line)
  if (!found) return false
  const path = [...current, ...keysOf(found[1] ?? '')]
  return path[0] === table && (path.length === 1 || path[1] === name)
}

function withoutTexts(line: string): string {
  return line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '').replace(/#.*$/, '')
}
