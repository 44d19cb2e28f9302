import { createReadStream } from 'node:fs'
import { unreadable } from './input.ts'

/**
 * The lines of a file of JSON lines; `-` names standard input. Only LF and CRLF end a line: JSON texts may hold U+2028 and U+2029, at which
 * `node:readline` splits too. Throws Failure `invalid_request` if the file cannot be read.
 */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const input =
    file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, { encoding: 'utf8' })
  let rest = ''
  try {
    for await (const chunk of input) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield withoutReturn(line)
    }
  } catch (fault) {
    throw unreadable(file, fault)
  }
  if (rest !== '') yield withoutReturn(rest)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
