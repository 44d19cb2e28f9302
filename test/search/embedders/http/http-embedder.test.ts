import { describe, expect, test } from 'vitest'
import { Failure } from '../../../../schemas/failure.ts'
import { rejection } from '../../../net/support.ts'
import { json, meaning, type Reply, right, rows, startEndpoint, status, unit } from './support.ts'

const signal = new AbortController().signal
const expected = (texts: readonly string[]) =>
  texts.map((text) => ({ vector: unit(meaning(text)), coverage: 1 }))

describe('the HTTP embedder', () => {
  test('gives unit vectors in the order of the texts, and learns the dimensions', async () => {
    await using endpoint = await startEndpoint()
    await using embedder = await endpoint.create({ key: 'sk-secret' })
    const texts = ['find a flight', 'x', 'send mail']
    expect(await embedder.embed(texts, 'document', signal)).toEqual(expected(texts))
    expect(embedder).toMatchObject({ model: 'http:tiny:3', dimensions: 3 })
    expect(endpoint.requests[1]).toMatchObject({
      path: '/v1/embeddings',
      headers: { authorization: 'Bearer sk-secret', 'content-type': 'application/json' },
      body: { model: 'tiny', input: texts, encoding_format: 'float' },
    })
    expect(endpoint.requests[1]?.body).not.toHaveProperty('dimensions')
  })

  test.each([
    ['/v1', '/v1/embeddings'],
    ['/v1/', '/v1/embeddings'],
    ['/v1/embeddings', '/v1/embeddings'],
    ['', '/embeddings'],
    ['/openai/deployments/x/embeddings?api-version=1', '/openai/deployments/x/embeddings?api-version=1'],
    ['/v1?tenant=a', '/v1/embeddings?tenant=a'],
  ])('accepts the URL %s for the resource %s', async (url, path) => {
    await using endpoint = await startEndpoint()
    await using _embedder = await endpoint.create({ url: `${endpoint.origin}${url}` })
    expect(endpoint.requests[0]?.path).toBe(path)
  })

  test('sends no Authorization without a key', async () => {
    await using endpoint = await startEndpoint()
    await using _embedder = await endpoint.create()
    expect(endpoint.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  test('requests the configured dimensions', async () => {
    await using endpoint = await startEndpoint()
    await using _embedder = await endpoint.create({ dimensions: 3 })
    expect(endpoint.requests[0]?.body.dimensions).toBe(3)
  })

  test('assigns vectors by their index, not by their position', async () => {
    const shuffled: Reply = (response, { body }) => json({ data: rows(body.input).toReversed() })(response)
    await using endpoint = await startEndpoint(right, shuffled)
    await using embedder = await endpoint.create()
    const texts = ['one', 'three', 'fifteen']
    expect(await embedder.embed(texts, 'document', signal)).toEqual(expected(texts))
  })

  test('does not send texts without letters or digits; their coverage is 0', async () => {
    await using endpoint = await startEndpoint()
    await using embedder = await endpoint.create()
    const found = await embedder.embed(['', ' \n', '!?', '航班', '7'], 'document', signal)
    expect(found.map(({ coverage }) => coverage)).toEqual([0, 0, 0, 1, 1])
    expect(found[2]?.vector).toEqual(new Float32Array(3))
    expect(endpoint.requests[1]?.body.input).toEqual(['航班', '7'])
    await embedder.embed(['', '…'], 'query', signal)
    expect(endpoint.requests).toHaveLength(2)
  })

  test('cuts long texts, never within a character', async () => {
    await using endpoint = await startEndpoint()
    await using embedder = await endpoint.create()
    await embedder.embed([`${'a'.repeat(1999)}😀 and on`], 'document', signal)
    expect(endpoint.requests[1]?.body.input).toEqual([`${'a'.repeat(1999)}\ufffd`])
  })

  test('sends many texts in batches, by number and by size, several at a time', async () => {
    let [inFlight, most] = [0, 0]
    const slow: Reply = async (response, request) => {
      most = Math.max(most, ++inFlight)
      await new Promise(setImmediate)
      inFlight--
      right(response, request)
    }
    await using endpoint = await startEndpoint(right, ...Array(20).fill(slow))
    await using embedder = await endpoint.create()
    const texts = [...Array(100).keys()].map((index) => `text ${index}`)
    const long = [...Array(30).keys()].map((index) => `${index} ${'word '.repeat(390)}`)
    expect(await embedder.embed([...texts, ...long], 'document', signal)).toEqual(
      expected([...texts, ...long]),
    )
    const batches = endpoint.requests.slice(1).map(({ body }) => body.input)
    expect(Math.max(...batches.map(({ length }) => length))).toBe(16)
    expect(Math.max(...batches.map((batch) => batch.join('').length))).toBeLessThanOrEqual(16_000)
    expect(batches.flat().toSorted()).toEqual([...texts, ...long].toSorted())
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(3)
  })

  test('refuses at its creation an invalid URL', async () => {
    await using endpoint = await startEndpoint()
    expect(await rejection(endpoint.create({ url: 'localhost' }))).toMatchObject({
      code: 'unavailable',
      details: { hint: expect.stringContaining('DRAGOMAN_EMBEDDINGS_URL') },
    })
  })

  test.each<[string, Reply, string]>([
    ['a wrong key', status(401), 'DRAGOMAN_EMBEDDINGS_KEY'],
    ['a key without rights', status(403), 'DRAGOMAN_EMBEDDINGS_KEY'],
    ['a wrong address or model', status(404), 'DRAGOMAN_MODEL'],
    ['a refused request', status(400), 'DRAGOMAN_MODEL'],
    ['a page of another site', (response) => response.end('<html>Welcome</html>'), 'DRAGOMAN_EMBEDDINGS_URL'],
    ['an empty answer', json({ data: [] }), 'DRAGOMAN_MODEL'],
  ])('gives a hint at its creation about %s', async (_, reply, named) => {
    await using endpoint = await startEndpoint(reply)
    const failure = await rejection(endpoint.create({ key: 'sk-secret' }))
    expect(failure).toMatchObject({ code: 'unavailable', details: { hint: expect.stringContaining(named) } })
    expect(endpoint.requests).toHaveLength(1)
  })

  test('says at its creation that the endpoint does not answer', async () => {
    await using alive = await startEndpoint()
    // Another server may take the port of one that was closed; nothing takes this one.
    const failure = await rejection(alive.create({ url: 'http://127.0.0.1:1/v1' }))
    expect(failure).toMatchObject({ code: 'unavailable' })
  })

  test('refuses at its creation a model of other dimensions than configured', async () => {
    await using endpoint = await startEndpoint()
    const failure = await rejection(endpoint.create({ dimensions: 256 }))
    expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/3 .*256/) })
  })

  test('keeps the key out of failures', async () => {
    for (const reply of [status(401), status(500), (response) => response.destroy()] satisfies Reply[]) {
      await using endpoint = await startEndpoint(...Array(4).fill(reply))
      const failure = await rejection(
        endpoint.create({ key: 'sk-secret', url: `${endpoint.origin}/v1?k=sk-secret` }),
      )
      expect(everythingOf(failure)).not.toContain('sk-secret')
    }
  })
})

/** Everything that a log could write of a failure and its causes. */
function everythingOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  const details = failure instanceof Failure ? JSON.stringify(failure.details) : ''
  return `${failure.stack} ${details} ${JSON.stringify(failure)} ${everythingOf(failure.cause)}`
}
