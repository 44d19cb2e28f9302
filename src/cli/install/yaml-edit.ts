import { Failure } from '../../../schemas/failure.ts'

interface Range {
  readonly start: number
  readonly end: number
}

/** True for `key:`, plain or quoted, with its value. */
function isMember(line: string): boolean {
  return /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#%&*!|>?@`{}[\],:-][^\s:#{}[\],]*(?: [^\s:#{}[\],]+)*):(?:\s|$)/.test(
    line,
  )
}

/** What follows the start of a line; empty if the line begins in another way. */
function after(line: string, start: string): string {
  return line.startsWith(start) ? line.slice(start.length) : ''
}

/**
 * A file of YAML in which the members of one mapping at the top are replaced as whole blocks of lines; all other lines
 * stay as they are. Throws Failure `conflict` for a file in which that could go wrong.
 */
export class YamlFile {
  readonly #lines: readonly string[]
  readonly #eol: string
  readonly #mark: string
  readonly #file: string

  constructor(text: string, file: string) {
    this.#file = file
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n'
    this.#mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
    this.#lines = text.slice(this.#mark.length).split(/\r?\n/)
    const isOther = (line: string) => !/^(?:\s|$|#|%|-\s|-$|---|\.\.\.)/.test(line) && !isMember(line)
    const other = this.#lines.findIndex(isOther)
    if (other >= 0) throw this.#unsafe(`Line ${other + 1} is not a member of a mapping.`)
    if (/^\t/m.test(text)) throw this.#unsafe('It is indented by tabs.')
    if (this.#lines.filter((line) => /^(---|\.\.\.)(\s|$)/.test(line)).length > 1)
      throw this.#unsafe('It has several documents.')
  }

  /** The lines of a member, indented by two; undefined if there is none. */
  get(mapping: string, name: string): string | undefined {
    const { member, indent } = this.#find(mapping, name)
    if (!member) return undefined
    const lines = this.#lines.slice(member.start, member.end)
    return `${lines.map((line) => `  ${line.slice(indent.length)}`).join('\n')}\n`
  }

  /** The text with the block in the place of the old one, or as the last member; without it if there is no block. */
  with(mapping: string, name: string, block: string | undefined): string {
    const { member, range, indent } = this.#find(mapping, name)
    const added = block === undefined ? [] : block.trimEnd().split('\n')
    const indented = added.map((line) => indent + line.slice(2))
    if (member && range && block === undefined) return this.#without(mapping, range, member)
    if (member) return this.#spliced(member.start, member.end, indented)
    if (block === undefined) return this.#text(this.#lines)
    if (range) {
      const opened = range.isEmpty ? [`${mapping}:`, ...indented] : indented
      return this.#spliced(range.isEmpty ? range.start : range.end, range.end, opened)
    }
    const head = this.#lines.join('\n').trimEnd()
    if (/^(?:-(?:\s|$)|\.\.\.)/m.test(head) && !this.#lines.some(isMember))
      throw this.#unsafe('It is not a mapping.')
    if (/^\.\.\.(\s|$)/m.test(head)) throw this.#unsafe('It has an end of the document.')
    return this.#text([...(head === '' ? [] : head.split('\n')), `${mapping}:`, ...indented, ''])
  }

  /** Without the last member the mapping would be null. */
  #without(mapping: string, range: Range, member: Range): string {
    const rest = [
      ...this.#lines.slice(range.start + 1, member.start),
      ...this.#lines.slice(member.end, range.end),
    ]
    if (rest.some((line) => /^\s*[^\s#]/.test(line))) return this.#spliced(member.start, member.end, [])
    return this.#spliced(range.start, range.end, [`${mapping}: {}`, ...rest])
  }

  #spliced(start: number, end: number, lines: readonly string[]): string {
    return this.#text([...this.#lines.slice(0, start), ...lines, ...this.#lines.slice(end)])
  }

  #text(lines: readonly string[]): string {
    return this.#mark + lines.join(this.#eol)
  }

  #find(mapping: string, name: string) {
    const range = this.#mapping(mapping)
    const indent = this.#indentIn(range)
    if (!range || range.isEmpty) return { range, indent, member: undefined }
    const keys = [name, `"${name}"`, `'${name}'`].map((key) => `${indent}${key}:`)
    const isKey = (line: string) => keys.some((key) => line === key || /^\s/.test(after(line, key)))
    const inside = this.#lines.slice(range.start + 1, range.end)
    const isOther = (line: string) =>
      /^\s*[^\s#]/.test(line) && !line.startsWith(`${indent} `) && !isMember(after(line, indent))
    if (inside.some(isOther)) throw this.#unsafe(`${mapping} has lines that are not its members.`)
    const at = this.#lines.findIndex((line, index) => index > range.start && index < range.end && isKey(line))
    if (at < 0) return { range, indent, member: undefined }
    const deeper = (line: string) => line.trim() === '' || line.startsWith(`${indent} `)
    let end = at + 1
    while (end < range.end && deeper(this.#lines[end] ?? '')) end++
    return { range, indent, member: { start: at, end: this.#trimmed(at, end) } }
  }

  /** The lines of a mapping at the top, its key included. */
  #mapping(name: string): { start: number; end: number; isEmpty: boolean } | undefined {
    const start = this.#lines.findIndex((line) => new RegExp(`^["']?${name}["']?\\s*:`).test(line))
    if (start < 0) return undefined
    const value = this.#lines[start]
      ?.replace(/^[^:]*:/, '')
      .replace(/\s#.*$/, '')
      .trim()
    if (value === '{}' || value === 'null' || value === '~') return { start, end: start + 1, isEmpty: true }
    if (value !== '') throw this.#unsafe(`${name} is not a mapping of lines.`)
    let end = start + 1
    while (end < this.#lines.length && !/^[^\s#]/.test(this.#lines[end] ?? '')) end++
    if (/^-(\s|$)/.test(this.#lines[end] ?? '')) throw this.#unsafe(`${name} is a list.`)
    end = this.#trimmed(start, end)
    return { start, end, isEmpty: false }
  }

  /** The end without the blank lines and comments before it, which belong to what follows. */
  #trimmed(start: number, end: number): number {
    let last = end
    while (last > start + 1 && /^\s*(#.*)?$/.test(this.#lines[last - 1] ?? '')) last--
    return last
  }

  #indentIn(range: { start: number; end: number } | undefined): string {
    const lines = range ? this.#lines.slice(range.start + 1, range.end) : []
    const first = lines.find((line) => /^\s*[^\s#]/.test(line))
    return /^ +/.exec(first ?? '')?.[0] ?? '  '
  }

  #unsafe(why: string): Failure {
    return new Failure('conflict', `${this.#file} cannot be changed safely. ${why}`, {
      hint: 'Put the piece into the file by hand: --dry-run prints it.',
    })
  }
}
