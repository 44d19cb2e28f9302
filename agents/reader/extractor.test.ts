import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { rejection } from '../../test/net/support.ts'
import { createExtractor } from './extractor.ts'

const signal = new AbortController().signal
const page = (html: string) => ({ html, url: 'https://example.com/', format: 'markdown' as const })

/** A worker that obeys commands in the page. */
const obedient = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ html }) => {
      if (html === 'hang') while (true);
      if (html === 'die') process.exit(1)
      if (html === 'eat') { const all = []; while (true) all.push(new Array(1e5).fill(1.5)) }
      if (html === 'throw') return parentPort.postMessage({ error: 'RangeError: too deep' })
      parentPort.postMessage({ extracted: { content: html } })
    })
    parentPort.postMessage({ ready: true })`)}`,
)

describe('the extractor', () => {
  test('reads pages in order of arrival', async () => {
    await using extractor = createExtractor({ worker: obedient, threads: 1 })
    const read = await Promise.all(['a', 'b', 'c'].map((html) => extractor.extract(page(html), signal)))
    expect(read.map(({ content }) => content)).toEqual(['a', 'b', 'c'])
  })

  test('reads as many pages at once as it has threads', async () => {
    await using extractor = createExtractor({ worker: obedient, threads: 2, deadline_ms: 60_000 })
    const caller = new AbortController()
    const stuck = rejection(extractor.extract(page('hang'), caller.signal))
    expect((await extractor.extract(page('beside'), signal)).content).toBe('beside')
    caller.abort()
    expect(await stuck).toMatchObject({ code: 'cancelled' })
  })

  test('lets callers take turns, and turns away the caller with most waiting pages', async () => {
    await using extractor = createExtractor({
      worker: obedient,
      threads: 1,
      queue_limit: 3,
      deadline_ms: 400,
    })
    const order: string[] = []
    const ask = async (html: string, caller: string) => {
      order.push((await extractor.extract(page(html), signal, caller)).content)
    }
    const greedy = [rejection(ask('hang', 'greedy')), ask('a', 'greedy'), ask('b', 'greedy')]
    const turnedAway = rejection(ask('c', 'greedy'))
    await Promise.all([...greedy, ask('x', 'modest')])
    expect(await turnedAway).toMatchObject({ code: 'unavailable' })
    expect(order).toEqual(['x', 'a', 'b'])
  })

  test('fails if no thread can start', async () => {
    await using extractor = createExtractor({ worker: new URL('data:text/javascript,throw new Error()') })
    const failures = await Promise.all(
      ['a', 'b'].map((html) => rejection(extractor.extract(page(html), signal))),
    )
    for (const failure of failures) expect(failure).toMatchObject({ code: 'internal' })
  })

  test('answers at the deadline and serves the waiting pages', async () => {
    await using extractor = createExtractor({ worker: obedient, threads: 1, deadline_ms: 400 })
    const stuck = rejection(extractor.extract(page('hang'), signal))
    const behind = extractor.extract(page('next'), signal)
    expect(await stuck).toMatchObject({ code: 'deadline_exceeded' })
    expect((await behind).content).toBe('next')
  })

  test.each([
    ['throw', 'upstream_invalid'],
    ['eat', 'upstream_invalid'],
    ['die', 'internal'],
  ])('survives a page that makes its thread %s', async (html, code) => {
    await using extractor = createExtractor({ worker: obedient, deadline_ms: 20_000 })
    expect(await rejection(extractor.extract(page(html), signal))).toMatchObject({ code })
    expect((await extractor.extract(page('next'), signal)).content).toBe('next')
  })

  test('refuses more pages than may wait', async () => {
    await using extractor = createExtractor({
      worker: obedient,
      threads: 1,
      queue_limit: 1,
      deadline_ms: 400,
    })
    const stuck = rejection(extractor.extract(page('hang'), signal))
    const waiting = extractor.extract(page('waiting'), signal)
    const refused = await rejection(extractor.extract(page('refused'), signal))
    expect(refused).toMatchObject({ code: 'unavailable', details: { retry_after_s: expect.any(Number) } })
    expect(await stuck).toMatchObject({ code: 'deadline_exceeded' })
    expect((await waiting).content).toBe('waiting')
  })

  test('answers callers that leave at once, waiting or being read', async () => {
    await using extractor = createExtractor({ worker: obedient, threads: 1, deadline_ms: 400 })
    const caller = new AbortController()
    const gone = ['hang', 'never read'].map((html) => rejection(extractor.extract(page(html), caller.signal)))
    const next = extractor.extract(page('next'), signal)
    caller.abort()
    for (const failure of await Promise.all(gone)) expect(failure).toMatchObject({ code: 'cancelled' })
    expect((await next).content).toBe('next')
    expect(await rejection(extractor.extract(page('x'), caller.signal))).toMatchObject({ code: 'cancelled' })
  })

  test('fails its waiting pages when it is disposed', async () => {
    const extractor = createExtractor({ worker: obedient })
    const held = ['hang', 'waiting'].map((html) => rejection(extractor.extract(page(html), signal)))
    await extractor[Symbol.asyncDispose]()
    for (const failure of await Promise.all(held)) expect(failure).toMatchObject({ code: 'unavailable' })
  })

  test('lets its process end when it is idle', async () => {
    const source = `
      import { createExtractor } from '${new URL('./extractor.ts', import.meta.url)}'
      const extractor = createExtractor({ worker: new URL('${new URL('./worker.ts', import.meta.url)}') })
      const page = { html: '<p>hello</p>', url: 'https://example.com/', format: 'markdown' }
      console.log((await extractor.extract(page, new AbortController().signal)).content)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source])
    expect(await text(child.stdout)).toBe('hello\n')
  })
})
