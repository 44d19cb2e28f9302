import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeContainer } from '../../src/runner/sandbox/container.ts'
import { temporaryFolder } from '../support/command.ts'

/** An engine that runs a script, which writes its arguments to a file. */
async function engineOf(folder: string, script: string) {
  const program = join(folder, 'podman')
  await writeFile(program, `#!/bin/sh\necho "$@" >> ${folder}/calls\n${script}\n`)
  await chmod(program, 0o700)
  const engine = { name: 'podman', version: null, program, options: [], userOptions: [], env: {} } as const
  const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n')
  return { engine, calls }
}

test('a container that the engine refuses to remove while it ends is removed a moment later', async () => {
  await using folder = await temporaryFolder()
  const script = `[ "$(wc -l < ${folder.path}/calls)" -ge 2 ] || { echo "is being removed" >&2; exit 2; }`
  const { engine, calls } = await engineOf(folder.path, script)
  await removeContainer(engine, 'one')
  expect(await calls()).toEqual(['rm --force --time=0 one', 'rm --force --time=0 one'])
})

test('a container that is gone is removed once', async () => {
  await using folder = await temporaryFolder()
  const { engine, calls } = await engineOf(folder.path, 'echo "Error: no such container" >&2; exit 1')
  await removeContainer(engine, 'one')
  expect(await calls()).toHaveLength(1)
})
