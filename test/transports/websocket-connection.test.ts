import { once } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { maxInFlight, maxQueued } from '../../src/transports/shared/flow-control.ts'
import { openSocket } from '../support/socket.ts'
import { listenForSockets } from '../support/upgrades.ts'

const long = 'x'.repeat(1024 * 1024)
afterEach(() => void vi.useRealTimers())

describe('a heartbeat', () => {
  const beats = (count: number) => vi.advanceTimersByTime(count * 30_000)

  test('does not end a busy socket, whose pongs wait unread', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const full = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const many = maxInFlight + maxQueued
    let seen = 0
    await using server = await listenForSockets((connection, text) => {
      seen += 1
      if (seen === many) full.resolve()
      return { run: () => release.promise.then(() => connection.send(text)) }
    })
    await using peer = await openSocket(server.url, ['test'])
    for (let id = 1; id <= many; id++) peer.send({ id })
    await full.promise
    beats(5)
    release.resolve()
    for (let id = 1; id <= many; id++) expect(await peer.answer(id)).toEqual({ id })
  })

  test('leaves a socket alone that talks without a pong, and ends one that is silent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await using server = await listenForSockets((connection, text) => ({ run: () => connection.send(text) }))
    await using peer = await openSocket(server.url, ['test'])
    // A peer that reads no ping sends no pong.
    Object.assign(peer.socket, { _autoPong: false })
    for (let id = 1; id <= 4; id++) {
      beats(1)
      peer.send({ id })
      await peer.answer(id)
    }
    const closed = once(peer.socket, 'close')
    beats(2)
    expect((await closed)[0]).toBe(1006)
  })
})

test('a peer that sends pongs without an end is cut off', async () => {
  await using server = await listenForSockets((connection, text) => ({ run: () => connection.send(text) }))
  await using peer = await openSocket(server.url, ['test'])
  const closed = once(peer.socket, 'close')
  for (let count = 0; count < 100; count++) peer.socket.pong()
  peer.send({ id: 1 })
  expect(await peer.answer(1)).toEqual({ id: 1 })
  peer.socket.pong()
  expect((await closed)[0]).toBe(1006)
})

describe('what is sent', () => {
  test('may wait for a peer that requested much at once', async () => {
    await using server = await listenForSockets((connection, text) => ({
      run: () => connection.send(JSON.stringify({ id: Number(text), long })),
    }))
    await using peer = await openSocket(server.url, ['test'])
    const ids = Array.from({ length: 16 }, (_, index) => index + 1)
    for (const id of ids) peer.send(String(id))
    for (const id of ids) expect((await peer.answer(id)).long).toHaveLength(long.length)
  })

  test('may not wait for a peer that reads nothing', async () => {
    // However long the peer then takes to read all of it, it is not cut off.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const answer = JSON.stringify({ id: 1, long: long.repeat(4) })
    await using server = await listenForSockets((connection) => ({ run: () => connection.send(answer) }), {
      stall_ms: 50,
    })
    const upgraded = server.upgraded()
    await using peer = await openSocket(server.url, ['test'])
    const wire = await upgraded
    peer.socket.pause()
    for (let count = 0; count < 16; count++) peer.send('more')
    await once(wire, 'timeout')
    const closed = once(peer.socket, 'close')
    peer.socket.resume()
    expect((await closed)[0]).toBe(1013)
  })

  test('goes with the socket of a peer that never reads again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const answer = JSON.stringify({ id: 1, long: long.repeat(4) })
    await using server = await listenForSockets((connection) => ({ run: () => connection.send(answer) }), {
      stall_ms: 50,
    })
    const upgraded = server.upgraded()
    await using peer = await openSocket(server.url, ['test'])
    const wire = await upgraded
    peer.socket.pause()
    for (let count = 0; count < 16; count++) peer.send('more')
    await once(wire, 'timeout')
    const ended = once(wire, 'close')
    vi.advanceTimersByTime(5000)
    await ended
  })
})

test('a task that throws closes its socket with 1011, and the server receives the error', async () => {
  const onError = vi.fn()
  const fault = new Error('broken')
  const prepare = (_: unknown, text: string) => {
    if (text === 'prepare') throw fault
    return { run: () => Promise.reject(fault) }
  }
  await using server = await listenForSockets(prepare, { context: { onError } })
  for (const text of ['prepare', 'run']) {
    await using peer = await openSocket(server.url, ['test'])
    const closed = once(peer.socket, 'close')
    peer.send(text)
    expect((await closed)[0]).toBe(1011)
  }
  expect(onError.mock.calls).toEqual([[fault], [fault]])
})
