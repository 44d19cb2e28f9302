import { expect, test } from 'vitest'
import type { Envelope } from '../../schemas/envelope.ts'
import { Failure } from '../../schemas/failure.ts'
import type { EarlierCall, IdempotencyStore } from '../../schemas/idempotency.ts'
import { createIdempotency } from '../../src/router/idempotency.ts'
import { anonymous, principal, routerOver, sampleAction, sampleAgent } from '../support/router.ts'

function rememberedCalls(): IdempotencyStore {
  const calls = new Map<string, EarlierCall>()
  const nameOf = ({ owner, action, key }: { owner: string; action: string; key: string }) =>
    JSON.stringify([owner, action, key])
  return {
    async begin(call) {
      const earlier = calls.get(nameOf(call))
      if (!earlier) calls.set(nameOf(call), { digest: call.digest, output: null })
      return earlier
    },
    async keep(call, _, output) {
      calls.set(nameOf(call), { digest: call.digest, output })
    },
    async forget(call) {
      calls.delete(nameOf(call))
    },
  }
}

/** A router with one creating action, whose calls the test ends. */
function open(run: (input: unknown) => Promise<unknown>, store = rememberedCalls()) {
  const faults: unknown[] = []
  let made = 0
  const once = createIdempotency({
    store,
    clock: () => 0,
    createId: () => `${++made}`,
    onError: (fault) => void faults.push(fault),
  })
  const actions = [
    sampleAction('create', { effect: 'write', idempotency: 'key', run }),
    sampleAction('plain', { run }),
  ]
  const { dispatch } = routerOver([sampleAgent('svc.test', actions)], { once })
  const caller = principal('ada', [])
  const send = (params: Envelope['params'], call = anonymous({ principal: caller }), action = 'create') =>
    dispatch({ to: 'svc.test', action, params }, call).then(({ output }) => output)
  return { send, faults }
}

test('a call that is sent again is made once, and has the same answer', async () => {
  const inputs: unknown[] = []
  const { send } = open(async (input) => ({ number: inputs.push(input) }))
  expect(await send({ idempotency_key: 'a', x: 1, y: { b: 1, a: 2 } })).toEqual({ number: 1 })
  expect(await send({ y: { a: 2, b: 1 }, x: 1, idempotency_key: 'a' })).toEqual({ number: 1 })
  expect(await send({ idempotency_key: 'b', x: 1 })).toEqual({ number: 2 })
  expect(await send({ x: 1 })).toEqual({ number: 3 })
  expect(await send({ x: 1 })).toEqual({ number: 4 })
  expect(inputs).toEqual([{ x: 1, y: { b: 1, a: 2 } }, { x: 1 }, { x: 1 }, { x: 1 }])
})

test('a key belongs to its caller, and an anonymous caller has none', async () => {
  let made = 0
  const { send } = open(async () => ++made)
  await send({ idempotency_key: 'a' })
  expect(await send({ idempotency_key: 'a' }, anonymous({ principal: principal('eve', []) }))).toBe(2)
  await expect(send({ idempotency_key: 'a' }, anonymous())).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('another input under the same key is refused', async () => {
  const { send } = open(async () => 1)
  await send({ idempotency_key: 'a', x: 1 })
  await expect(send({ idempotency_key: 'a', x: 2 })).rejects.toMatchObject({
    code: 'conflict',
    details: { errors: [{ pointer: '/idempotency_key' }] },
  })
})

test('while the first runs the second gets a retry time, though the first caller has left', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const { send } = open(() => {
    begun.resolve()
    return promise
  })
  const leaving = new AbortController()
  const left = send(
    { idempotency_key: 'a' },
    anonymous({ principal: principal('ada', []), signal: leaving.signal }),
  )
  await begun.promise
  leaving.abort()
  await expect(left).rejects.toMatchObject({ code: 'cancelled' })
  await expect(send({ idempotency_key: 'a' })).rejects.toMatchObject({
    code: 'conflict',
    details: { retry_after_s: 1 },
  })
  resolve('made')
  await promise
  await expect.poll(() => send({ idempotency_key: 'a' })).toBe('made')
})

test('what failed is made again', async () => {
  let tries = 0
  const { send } = open(async () => {
    if (++tries === 1) throw new Failure('conflict', 'Not yet.')
    return tries
  })
  await expect(send({ idempotency_key: 'a' })).rejects.toMatchObject({ message: 'Not yet.' })
  expect(await send({ idempotency_key: 'a' })).toBe(2)
})

test('the output is returned although it cannot be stored, which is reported', async () => {
  const full = new Error('full')
  const { send, faults } = open(async () => 1, {
    ...rememberedCalls(),
    keep: () => Promise.reject(full),
  })
  expect(await send({ idempotency_key: 'a' })).toBe(1)
  expect(faults).toEqual([full])
})

test('an action without a key gets its input unchanged', async () => {
  const { send } = open(async (input) => input)
  const input = { idempotency_key: 'a' }
  expect(await send(input, anonymous(), 'plain')).toEqual(input)
})
