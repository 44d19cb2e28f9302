import { execFile } from 'node:child_process'

/** The fenced blocks of a document: their info string and their text. */
export function blocks(text: string): { info: string; code: string }[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    info: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

/** Runs a script with bash; resolves to its output, and rejects if a command fails. */
export function shell(script: string): Promise<string> {
  return new Promise((done, fail) => {
    execFile('bash', ['-euc', script], { maxBuffer: 16 * 1024 * 1024 }, (fault, stdout, stderr) =>
      fault ? fail(new Error(`${script}\n${stdout}\n${stderr}`)) : done(stdout),
    )
  })
}
