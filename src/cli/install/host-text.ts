import type { HostInstall } from '../../../schemas/install.ts'
import { isRecord } from '../../../schemas/json.ts'
import { tomlTable, yamlMember } from '../../registry/install/texts.ts'
import { JsonFile } from './json-edit.ts'
import { TomlFile } from './toml-edit.ts'
import { YamlFile } from './yaml-edit.ts'

/** The text of a host's file before and after a change. */
interface Edit {
  readonly text: string
  /** True if another server stood under the name. */
  readonly replaces: boolean
}

/** A piece as `install_config` gives it, and what stands in it for values of the user. */
export interface Piece {
  readonly config: Readonly<Record<string, unknown>>
  readonly marks: readonly string[]
}

/** The file of a host, with one server of it. */
interface HostText {
  /** The text with the server of a piece under the name. */
  add(piece: Piece): Edit
  /** True if the server of this name is what a piece gives, but for versions and for what the user changed in it. */
  isFrom(piece: Piece): boolean
  /** The text without the server of this name, which stands below `key`. */
  remove(key: string): string
}

/** How the files of each format are changed: `text` is that of the file at the path `file`. */
export const formats: Readonly<
  Record<NonNullable<HostInstall['format']>, (text: string, file: string, name: string) => HostText>
> = {
  json(text, file, name) {
    const json = new JsonFile(text, file)
    const read = ({ config: { inputs, ...servers } }: Piece) => {
      const { key, server } = serverIn(servers, name)
      return { key, server, before: json.get([key, name]), inputs }
    }
    return {
      add(piece) {
        const { key, server, before, inputs } = read(piece)
        const { marks } = piece
        const value = isSameServer(server, before, marks)
          ? withOwn(withFilled(server, before, marks), before)
          : server
        for (const prompt of Array.isArray(inputs) ? inputs : []) json.setItem(['inputs'], prompt)
        json.set([key, name], value)
        return { text: json.text, replaces: before !== undefined && json.text !== text }
      },
      isFrom(piece) {
        const { server, before } = read(piece)
        return isSameServer(server, before, piece.marks)
      },
      remove(key) {
        const removed = JSON.stringify(json.get([key, name]) ?? null)
        json.remove([key, name])
        const left = JSON.stringify(json.get([key]) ?? null)
        const isOwn = (id: string) => removed.includes(`\${input:${id}}`) && !left.includes(`\${input:${id}}`)
        json.removeItems(['inputs'], (id) => id !== '' && isOwn(id))
        return json.text
      },
    }
  },
  toml(text, file, name) {
    const toml = new TomlFile(text, file)
    return textBlocks(text, name, {
      get: (key) => toml.get([key, name]),
      with: (key, block) => toml.with([key, name], block),
      blockOf: (key, server) => tomlTable([key, name], server),
    })
  },
  yaml(text, file, name) {
    const yaml = new YamlFile(text, file)
    return textBlocks(text, name, {
      get: (key) => yaml.get(key, name),
      with: (key, block) => yaml.with(key, name, block),
      blockOf: (_, server) => yamlMember(name, server),
    })
  },
}

/** The server of one name in a file whose servers are blocks of lines, below a key. */
interface Blocks {
  get(key: string): string | undefined
  /** The text of the file with another block, or without one. */
  with(key: string, block: string | undefined): string
  blockOf(key: string, server: Record<string, unknown>): string
}

function textBlocks(text: string, name: string, blocks: Blocks): HostText {
  const read = ({ config }: Piece) => {
    const { key, server } = serverIn(config, name)
    return { key, block: blocks.blockOf(key, server), before: blocks.get(key) }
  }
  return {
    add(piece) {
      const { key, block, before } = read(piece)
      if (holds(before, block)) return { text, replaces: false }
      return { text: blocks.with(key, block), replaces: before !== undefined }
    },
    isFrom(piece) {
      const { block, before } = read(piece)
      return hasWords(before, block, piece.marks)
    },
    remove: (key) => blocks.with(key, undefined),
  }
}

/** The server of a piece, and the key of the file below which it stands. */
function serverIn(
  servers: Readonly<Record<string, unknown>>,
  name: string,
): { readonly key: string; readonly server: Record<string, unknown> } {
  const [[key, members] = ['', {}]] = Object.entries(servers)
  const server = isRecord(members) ? members[name] : undefined
  return { key, server: isRecord(server) ? server : {} }
}

/** True if every line of the block is there: the user may have added others. */
function holds(before: string | undefined, block: string): boolean {
  const lines = new Set(before?.split('\n').map((line) => line.trim()))
  return block.split('\n').every((line) => line.trim() === '' || lines.has(line.trim()))
}

/** True if `before` has every word of the block, but for versions and for the places of the user's values. */
function hasWords(before: string | undefined, block: string, marks: readonly string[]): boolean {
  const stated = wordsIn(block).filter((word) => !marks.some((mark) => word.includes(mark)))
  const present = new Set(wordsIn(before ?? '').map(withoutVersion))
  return stated.every((word) => present.has(withoutVersion(word)))
}

function wordsIn(text: string): string[] {
  return text.split(/["'\s,[\]{}]+/).filter(Boolean)
}

/**
 * True if `before` has every text of the server, but for versions and for the places of the user's values. Another
 * server of the name must not get the values that the user gave to this one: `npx` is the command of many packages.
 */
function isSameServer(server: Record<string, unknown>, before: unknown, marks: readonly string[]): boolean {
  const stated = textsIn(server).filter((text) => !marks.some((mark) => text.includes(mark)))
  const present = new Set(textsIn(before).map(withoutVersion))
  return stated.every((text) => present.has(withoutVersion(text)))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** A package without its version or digest: `npm-name@1.2.3`, `pypi-name==1.2.3`, `image:1.2.3@sha256:…`. */
function withoutVersion(text: string): string {
  return text.replace(/^([^\s:=]*[^\s:=@])(?:==|@|:)(?:v?\d|sha256:|latest)[\w.+:@-]*$/, '$1')
}

/** The server with the members that the user has added to the same server, and to its variables and headers. */
function withOwn(server: Record<string, unknown>, before: unknown): Record<string, unknown> {
  if (!isRecord(before)) return server
  const inner = ['env', 'headers'].filter((name) => isRecord(before[name]))
  const merged = inner.map((name) => [
    name,
    { ...(before[name] as object), ...(server[name] as object | undefined) },
  ])
  return { ...before, ...server, ...Object.fromEntries(merged) }
}

/** The value, with what the user has put in the place of marks. */
function withFilled<Value>(value: Value, before: unknown, marks: readonly string[]): Value {
  return filled(value, before, marks) as Value
}

function filled(value: unknown, before: unknown, marks: readonly string[]): unknown {
  if (typeof value === 'string') {
    return typeof before === 'string' && marks.some((mark) => value.includes(mark)) ? before : value
  }
  if (Array.isArray(value)) {
    const items = Array.isArray(before) && before.length === value.length ? before : []
    return value.map((item, index) => filled(item, items[index], marks))
  }
  if (!isRecord(value)) return value
  const members = isRecord(before) ? before : {}
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, filled(member, members[name], marks)]),
  )
}
