import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandsOf } from '../../src/cli/commands/walk.ts'
import { createProgram } from '../../src/cli/program.ts'
import { run } from '../support/command.ts'
import { guideOf } from '../support/documents.ts'

const program = createProgram({ errors: false })
const all = commandsOf(program)
const leaves = all.filter(({ command }) => command.commands.length === 0)

/** The help of a command, with what is added after the options. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

/** The words of a line of a shell without its assignments and pipes; quoted words are one. */
function wordsOf(line: string, path: string): string[] {
  const own = line.split(/ \| |\$\(|<\(|&& /).find((part) => part.includes(`dragoman ${path}`)) ?? ''
  const [, after = ''] = own.split(`dragoman ${path}`)
  return [...after.matchAll(/'[^']*'|"[^"]*"|[^\s'"]+/g)].map(([word]) => word)
}

describe('the help', () => {
  test.each(all.map(({ path, command }) => [path, command] as const))(
    'of %s says in one line what it does',
    (_, command) => {
      expect(command.description()).toMatch(/^\S[^\n]{5,110}$/)
    },
  )

  test.each(leaves.map(({ path, command }) => [path, command] as const))(
    'of %s has examples with options that it takes',
    (path, command) => {
      const [, listed = ''] = helpOf(command).split('\nExamples:\n')
      const lines = listed.split('\n').filter((line) => line.startsWith('  '))
      expect(lines.length).toBeGreaterThan(0)
      const options = command.options.map(({ long }) => long)
      for (const line of lines) {
        expect(line).toContain(`dragoman ${path}`)
        const stated = wordsOf(line, path).filter((word) => word.startsWith('--'))
        expect(options).toEqual(expect.arrayContaining(stated))
      }
    },
  )

  test('offers --json where data is printed', () => {
    const without = leaves.filter(({ command }) => !command.options.some(({ long }) => long === '--json'))
    expect(without.map(({ path }) => path)).toEqual(['mcp', 'connect', 'completion'])
  })
})

test('docs/command-line.md has every command with what it takes and what it is for', () => {
  const page = guideOf('command-line.md')
  const rows = page.split('\n').filter((line) => /^\| `[a-z]/.test(line))
  const shown = leaves.map(({ path, command }) => {
    const taken = command.registeredArguments.map((argument) => {
      const name = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`
      return argument.required ? name : `[${name}]`
    })
    return `| \`${[path, ...taken].join(' ')}\` | ${command.description()} |`
  })
  expect(rows).toEqual(shown)
})

describe('a command line that is wrong', () => {
  test.each([
    [['serch', 'x'], 'Did you mean search'],
    [['ls'], 'Did you mean list'],
    [['restore', 'backup.jsonl'], 'Did you mean import'],
    [['token', 'creat'], 'Did you mean create'],
    [['publsh', 'agent.json'], 'Did you mean publish'],
    [['search', '--limti', '3'], 'Did you mean --limit'],
  ])('%j names what is near', async (args, suggestion) => {
    const { code, stdout, stderr } = await run(args, {})
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(suggestion)
  })

  test.each([
    [['serch', '--json']],
    [['search', '--limti', '--json']],
    [['search', '--limit', 'x', '--json']],
  ])('%j is refused by one JSON document', async (args) => {
    const { code, stderr } = await run(args, {})
    expect([code, JSON.parse(stderr).code]).toEqual([2, 'invalid_request'])
  })
})

describe('an option with a wrong value', () => {
  test.each([
    [['search', 'x', '--limit', 'many'], '--limit takes a number from 1 to 100, not many.'],
    [['search', 'x', '--limit', '1000'], '--limit takes a number from 1 to 100, not 1000.'],
    [['audit', 'x', '--limit', '0'], '--limit takes a number from 1 to 10000, not 0.'],
    [['token', 'create', '--ttl', '1w'], '--ttl takes a length of time, not 1w.'],
    [['mirror', 'add', 'official', '--every', 'often'], '--every takes a length of time, not often.'],
  ])('%j says once which values it takes', async (args, message) => {
    const { code, stderr } = await run(args, { DRAGOMAN_URL: 'http://127.0.0.1:9' })
    expect(code).toBe(2)
    expect(stderr.split(message)).toHaveLength(2)
    expect(stderr).not.toMatch(/expected|received|NaN/)
  })
})
