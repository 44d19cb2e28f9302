import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { appendFile, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'

const root = resolve(import.meta.dirname, '../..')
const exec = promisify(execFile)

test('a release has a signed provenance that names its commit, and a changed file is noticed', async () => {
  await using folder = await temporaryFolder()
  const project = join(folder.path, 'project')
  await exec('git', ['clone', '-q', root, project])
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'))
  // The rule of .gitignore is for a folder.
  await appendFile(join(project, '.git/info/exclude'), 'node_modules\n')
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = join(folder.path, 'key.pem')
  const pub = join(folder.path, 'key.pub')
  await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(pub, publicKey.export({ type: 'spki', format: 'pem' }))
  const target = join(folder.path, 'release')
  const release = (...args: string[]) =>
    exec(process.execPath, [join(project, 'scripts/release.js'), target, ...args])

  await writeFile(join(project, 'not-committed'), '')
  await expect(release('--key', key)).rejects.toThrow('not-committed')
  await exec('git', ['-C', project, 'clean', '-fdq'])

  const { stdout } = await release('--key', key)
  const [, tarball = ''] = /^[0-9a-f]{64} {2}(\S+\.tgz)$/m.exec(stdout) ?? []
  const bill = JSON.parse(await readFile(join(target, 'sbom.cdx.json'), 'utf8'))
  expect(bill.components.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['express', 'zod']),
  )
  expect(JSON.stringify(bill)).not.toContain('"vitest"')
  const envelope = JSON.parse(await readFile(join(target, 'provenance.intoto.json'), 'utf8'))
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  const { stdout: commit } = await exec('git', ['-C', project, 'rev-parse', 'HEAD'])
  expect(JSON.stringify(statement.predicate)).toContain(commit.trim())
  expect((await release('--verify', pub)).stdout).toContain(`ok ${tarball}`)

  await appendFile(join(target, tarball), 'x')
  await expect(release('--verify', pub)).rejects.toThrow('is not the file of the release')
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })
  await writeFile(pub, other)
  await expect(release('--verify', pub)).rejects.toThrow('did not sign')
}, 180_000)
