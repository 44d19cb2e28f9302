import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of a page of docs/, such as `calling.md`. */
export function guideOf(page: string): string {
  return readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8')
}

/** The fenced blocks of a document: their info string and their text. */
export function blocks(text: string): { info: string; code: string }[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    info: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

/** The texts of the fenced blocks with this info string. */
export function blocksOf(text: string, info: string): string[] {
  return blocks(text).flatMap((block) => (block.info === info ? block.code : []))
}

/** Runs a script with bash; resolves to its output, and rejects if a command fails. */
export function shell(script: string): Promise<string> {
  return new Promise((done, fail) => {
    execFile('bash', ['-euc', script], { maxBuffer: 16 * 1024 * 1024 }, (fault, stdout, stderr) =>
      fault ? fail(new Error(`${script}\n${stdout}\n${stderr}`)) : done(stdout),
    )
  })
}
