import { Failure } from '../../../schemas/failure.ts'

/**
 * A file of YAML in which the members of one mapping at the top are replaced as whole blocks of lines; all other lines
 * stay as they are. Throws Failure `conflict` for a file in which that could go wrong.
 */
export class YamlFile {
  readonly #lines: readonly string[]
  readonly #eol: string
  readonly #file: string

  constructor(text: string, file: string) {
    this.#file = file
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n'
    this.#lines = text.split(/\r?\n/)
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
    if (member) return this.#spliced(member.start, member.end, indented)
    if (block === undefined) return this.#lines.join(this.#eol)
    if (range) {
      const opened = range.isEmpty ? [`${mapping}:`, ...indented] : indented
      return this.#spliced(range.isEmpty ? range.start : range.end, range.end, opened)
    }
    const head = this.#lines.join('\n').trimEnd()
    return [...(head === '' ? [] : head.split('\n')), `${mapping}:`, ...indented, ''].join(this.#eol)
  }

  #spliced(start: number, end: number, lines: readonly string[]): string {
    return [...this.#lines.slice(0, start), ...lines, ...this.#lines.slice(end)].join(this.#eol)
  }

  #find(mapping: string, name: string) {
    const range = this.#mapping(mapping)
    const indent = this.#indentIn(range)
    if (!range || range.isEmpty) return { range, indent, member: undefined }
    const keys = [name, `"${name}"`, `'${name}'`].map((key) => `${indent}${key}:`)
    const isKey = (line: string) => keys.some((key) => line === key || line.startsWith(`${key} `))
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
