import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { loadSigningKey } from '../support/authenticator.ts'
import { temporaryFolder } from '../support/command.ts'
import { run } from '../support/processes.ts'

const fixture = resolve(import.meta.dirname, 'load-key.ts')

test('the key is created once, readable only by its owner, without other files', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'data', 'keys', 'signing.json')
  const first = await loadSigningKey(path)
  const written = await readFile(path, 'utf8')
  const second = await loadSigningKey(path)
  expect(second.kid).toBe(first.kid)
  expect(await readFile(path, 'utf8')).toBe(written)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  for (const made of ['data', 'data/keys']) {
    expect((await stat(join(folder.path, made))).mode & 0o777).toBe(0o700)
  }
  expect(await readdir(join(folder.path, 'data', 'keys'))).toEqual(['signing.json'])
})

test('two folders have two keys', async () => {
  await using folder = await temporaryFolder()
  const [first, two] = await Promise.all(
    ['one', 'two'].map((name) => loadSigningKey(join(folder.path, name, 'k.json'))),
  )
  expect(first?.kid).not.toBe(two?.kid)
})

test('many first starts at once agree on one key, in this process and in four others', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'keys', 'signing.json')
  const peers = Array.from({ length: 4 }, () => run(process.execPath, [fixture, path]))
  await Promise.all(peers.map((peer) => peer.printed(/waiting/)))
  for (const peer of peers) peer.process.stdin?.end('go')
  const mine = await Promise.all(Array.from({ length: 8 }, () => loadSigningKey(path)))
  const ends = await Promise.all(peers.map((peer) => peer.ended))
  expect(ends.map((end) => end.stderr)).toEqual(['', '', '', ''])
  const kids = [...ends.map((end) => end.stdout.split('\n')[1]), ...mine.map((key) => key.kid)]
  expect(new Set(kids).size).toBe(1)
  expect(await readdir(join(folder.path, 'keys'))).toEqual(['signing.json'])
})

test.each(['', '{', '{}', '{"kty":"oct","k":"AAAA"}', '{"kty":"OKP","crv":"X25519","x":"AA","d":"AA"}'])(
  'a file that holds %j instead is refused, and left as it is',
  async (text) => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'signing.json')
    await writeFile(path, text)
    await expect(loadSigningKey(path)).rejects.toThrow()
    expect(await readFile(path, 'utf8')).toBe(text)
  },
)
