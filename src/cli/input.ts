import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'

/** The text of a file; `-` names standard input. Throws Failure `invalid_request`. */
export async function readText(file: string): Promise<string> {
  if (file === '-') return await text(process.stdin)
  return await readFile(file, 'utf8').catch((fault) => {
    throw unreadable(file, fault)
  })
}

/** The refusal of a file that cannot be read, with the reason. */
export function unreadable(file: string, fault: unknown): Failure {
  const { code } = fault as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new Failure('invalid_request', `There is no file ${file}.`, hintFor(file), fault)
  }
  const reason = code === 'EISDIR' ? 'it is a folder' : String(code)
  return new Failure('invalid_request', `${file} cannot be read: ${reason}.`, {}, fault)
}

function hintFor(file: string): { hint?: string } {
  if (file.includes('://'))
    return { hint: `This takes a file. For an agent at this address: ${initFor(file)}` }
  return isAbsolute(file) ? {} : { hint: `It is looked for in ${process.cwd()}.` }
}

/** The command that writes the publication of an agent at a URL: of its card, or of what it answers at. */
export function initFor(url: string): string {
  const isCard = /\/\.well-known\/|\.json$/.test(url)
  return `dragoman init ${isCard ? '--manifest' : '--endpoint'} ${url}`
}

/** The JSON object in a file; `-` names standard input. Throws Failure `invalid_request`. */
export async function readObject(file: string): Promise<Record<string, unknown>> {
  return parseObject(await readText(file), file === '-' ? 'Standard input' : file)
}

/** A JSON object from `source`; `hint` says how to write one. Throws Failure `invalid_request`. */
export function parseObject(json: string, source: string, hint?: string): Record<string, unknown> {
  const details = hint === undefined ? {} : { hint }
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : ''
    throw new Failure('invalid_request', `${source} is not JSON. ${detail}`, details)
  }
  if (isRecord(value)) return value
  throw new Failure('invalid_request', `${source} is not a JSON object.`, details)
}

/** A whole number given to an option. Throws Failure `invalid_request`. */
export function readNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  throw new Failure('invalid_request', `${option} takes a number from ${min} to ${max}, not ${text}.`)
}

/** Longest time that an option takes. */
const maxDays = 365
const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds in `900s`, `12h` or `30d`; a number without a unit is seconds. Throws Failure `invalid_request`. */
export function readSeconds(option: string, text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  const value = Number(number) * unitSeconds[unit as keyof typeof unitSeconds]
  if (value >= 1 && value <= maxDays * unitSeconds.d) return value
  throw new Failure('invalid_request', `${option} takes a length of time, not ${text}.`, {
    hint: `Write a number with the unit s, m, h or d, such as 900s, 30m, 12h or 30d; at most ${maxDays}d.`,
  })
}

/** True if somebody at a terminal can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks questions at a terminal, until it is disposed; Ctrl+C and Ctrl+D are empty answers. Lines typed ahead wait. */
export function openQuestions(): { ask(question: string): Promise<string> } & Disposable {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => lines.close())
  const typed = lines[Symbol.asyncIterator]()
  return {
    async ask(question) {
      process.stderr.write(question)
      const { value = '' } = await typed.next()
      return String(value).trim()
    },
    [Symbol.dispose]: () => lines.close(),
  }
}

/** Asks at a terminal for a text that is not shown while it is typed; Ctrl+C and Ctrl+D are an empty answer. */
export async function askSecret(question: string): Promise<string> {
  process.stderr.write(question)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true })
  lines.on('SIGINT', () => lines.close())
  try {
    const { value = '' } = await lines[Symbol.asyncIterator]().next()
    return String(value).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** Asks for a yes. Throws Failure `invalid_request` where nobody can be asked; `otherwise` says what to give instead. */
export async function confirm(question: string, otherwise: string): Promise<boolean> {
  if (!canAsk()) throw new Failure('invalid_request', `Nobody can be asked here: ${otherwise}.`)
  using questions = openQuestions()
  return /^y(es)?$/i.test(await questions.ask(`${question} [y/N] `))
}
