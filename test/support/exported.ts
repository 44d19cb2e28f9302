import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { command } from './command.ts'
import { run } from './processes.ts'

export const formats = ['curl', 'typescript', 'mcp'] as const
type Format = (typeof formats)[number]

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Answer = any

/** Runs an exported program unchanged, and returns its answers in the order of the calls. */
export async function runExported(
  format: Format,
  text: string,
  folder: string,
  environment: Record<string, string>,
): Promise<Answer[]> {
  if (format === 'mcp') return await overStdio(text, environment)
  const path = join(folder, format === 'curl' ? 'exported.sh' : 'exported.ts')
  await writeFile(path, text)
  const runner = format === 'curl' ? 'bash' : process.execPath
  const { code, stdout, stderr } = await run(runner, [path], environment, { cwd: folder }).ended
  if (code !== 0) throw new Error(`${code}: ${stderr}`)
  const answers = stdout.trim().split('\n')
  return answers.map((line) => JSON.parse(line)).map((entry) => ('step' in entry ? entry.output : entry))
}

async function overStdio(input: string, environment: Record<string, string>): Promise<Answer[]> {
  const settings = { DRAGOMAN_LOG: 'silent', ...environment }
  const { code, stdout, stderr } = await run(process.execPath, [command, 'mcp'], settings, { input }).ended
  if (code !== 0) throw new Error(`${code}: ${stderr}`)
  const messages: Answer[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return messages
    .filter(({ id }) => id > 0)
    .toSorted((a, b) => a.id - b.id)
    .map(({ result }) => (result.isError ? result._meta['dragoman/problem'] : result.structuredContent))
    .map((entry) => ('step' in entry ? entry.output : entry))
}
