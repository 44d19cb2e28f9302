import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changeSignedIn, readSignedIn } from '../../src/app/signed-in.ts'
import { temporaryFolder } from '../support/command.ts'

const session = { issuer: 'i', resource: 'r', access_token: 't', expires_at: 0 }

/** A command that changes the sign-ins and never ends. */
const hanging = (path: string) => `
import { changeSignedIn } from ${JSON.stringify(new URL('../../src/app/signed-in.ts', import.meta.url).href)}
setInterval(() => {}, 1000)
await changeSignedIn(${JSON.stringify(path)}, () => {
  process.stdout.write('held')
  return new Promise(() => {})
})`

test('sign-ins are changed one after another, also while a command that held them is killed', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'credentials.json')
  const holder = spawn(process.execPath, ['--input-type=module', '-e', hanging(path)])
  await once(holder.stdout, 'data')
  let changing = 0
  const changes = ['a', 'b', 'c', 'd'].map((name) =>
    changeSignedIn(path, async ({ gateways }) => {
      changing += 1
      expect(changing).toBe(1)
      await new Promise(setImmediate)
      changing -= 1
      return [{ current: name, gateways: { ...gateways, [name]: session } }, undefined]
    }),
  )
  expect(readSignedIn(path).gateways).toEqual({})
  holder.kill('SIGKILL')
  await Promise.all(changes)
  expect(Object.keys(readSignedIn(path).gateways).sort()).toEqual(['a', 'b', 'c', 'd'])
})
