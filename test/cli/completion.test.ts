import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'

const execute = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'dragoman-'))
afterAll(() => rm(folder, { recursive: true }))

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

/** What each shell offers for a command line whose last word is being typed. */
const offers = {
  bash: async (script: string, words: readonly string[]) => {
    const { stdout } = await execute('bash', [
      '-c',
      `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dragoman; printf '%s\\n' "\${COMPREPLY[@]}"`,
      script,
      ...words,
    ])
    return stdout.split('\n')
  },
  fish: async (script: string, words: readonly string[]) => {
    const { stdout } = await execute('fish', [
      '--no-config',
      '-c',
      `source $argv[1]; complete -C "$argv[2]"`,
      script,
      words.join(' '),
    ])
    return stdout.split('\n').map((line) => line.split('\t')[0] ?? '')
  },
  zsh: async (script: string, words: readonly string[]) => {
    // The completion system itself, with its lists printed instead of shown.
    const driver = `
      compdef() { :; }
      _files() { :; }
      _describe() { print -l -- "\${(@P)4}" }
      source "$1"; shift
      words=("$@"); CURRENT=$#
      _dragoman`
    const { stdout } = await execute('zsh', ['-f', '-c', driver, 'zsh', script, ...words])
    const prefix = words.at(-1) ?? ''
    return stdout
      .split('\n')
      .map((line) => line.split(':')[0] ?? '')
      .filter((word) => word.startsWith(prefix))
  },
}

describe.each(Object.keys(offers) as (keyof typeof offers)[])('completion in %s', (shell) => {
  test.skipIf(!isInstalled(shell)).each([
    [['dragoman', 'go'], ['go-live']],
    [
      ['dragoman', 'token', ''],
      ['create', 'revoke'],
    ],
    [['dragoman', 'search', 'x', '--lim'], ['--limit']],
    [['dragoman', 'webhooks', 'update', 'ID', '--en'], ['--enable']],
    [['dragoman', 'delete', 'com.example.x', '--y'], ['--yes']],
  ])('of %j offers %j', async (words, expected) => {
    const script = join(folder, shell)
    await writeFile(script, (await run(['completion', shell], {})).stdout)
    const offered = await offers[shell](script, words)
    expect(offered).toEqual(expect.arrayContaining(expected))
    expect(offered).not.toContain('serve')
  })
})

test('completion of an unknown shell names the shells', async () => {
  const { code, stderr } = await run(['completion', 'tcsh'], {})
  expect([code, stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish')])
})
