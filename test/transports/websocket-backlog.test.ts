import { once } from 'node:events'
import { expect, test } from 'vitest'
import { Backlog } from '../../src/transports/websocket/backlog.ts'
import { principal } from '../support/router.ts'
import { openSocket } from '../support/socket.ts'
import { listenForSockets } from '../support/upgrades.ts'

test('the unanswered messages of all sockets of a caller are limited together, and count until they are answered', async () => {
  const answers: (() => void)[] = []
  const received: string[] = []
  await using server = await listenForSockets(
    (_, text) => ({
      async run() {
        received.push(text)
        await new Promise<void>((resolve) => answers.push(resolve))
      },
    }),
    { max_of_caller: 10 },
  )
  await using first = await openSocket(server.url, ['test'])
  await using second = await openSocket(server.url, ['test'])
  first.socket.send('12345')
  second.socket.send('67890')
  await expect.poll(() => received.length).toBe(2)
  for (const answer of answers) answer()
  first.socket.send('abcde')
  await expect.poll(() => received.length).toBe(3)
  const closed = once(second.socket, 'close')
  second.socket.send('too much')
  expect((await closed)[0]).toBe(1013)
  await first[Symbol.asyncDispose]()
  // What a closed socket has sent counts no more.
  await using third = await openSocket(server.url, ['test'])
  await expect
    .poll(() => {
      third.socket.send('1')
      return received.length
    })
    .toBeGreaterThan(3)
})

test('a message that the gateway failed to read counts no more once its socket has closed', async () => {
  const received: string[] = []
  await using server = await listenForSockets(
    (_, text) => {
      if (text === 'unlucky') throw new Error('A bug.')
      return { run: async () => void received.push(text) }
    },
    { max_of_caller: 10 },
  )
  await using first = await openSocket(server.url, ['test'])
  const closed = once(first.socket, 'close')
  first.socket.send('unlucky')
  expect((await closed)[0]).toBe(1011)
  await using second = await openSocket(server.url, ['test'])
  second.socket.send('fortunate')
  await expect.poll(() => received).toEqual(['fortunate'])
})

test('who has little unanswered is not refused for what others have', () => {
  const backlog = new Backlog({ max_of_caller: 100, max_in_all: 100, few: 10 })
  const [ada, bob] = ['ada', 'bob'].map((name) => ({ principal: principal(name), client: 'local' as const }))
  if (!ada || !bob) throw new Error('nobody')
  const answered = backlog.add(ada, 95)
  expect(answered).toBeDefined()
  expect(backlog.add(bob, 10)).toBeDefined()
  expect(backlog.add(bob, 1)).toBeUndefined()
  answered?.()
  answered?.()
  expect(backlog.add(bob, 90)).toBeDefined()
  expect(backlog.add(bob, 1)).toBeUndefined()
})
