import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { challengesFor, claimToken } from '../../../src/registry/verification/challenge.ts'
import { rejection, serve } from '../../net/support.ts'
import { startSite } from './support.ts'

const { signal } = new AbortController()
const domain = 'example.com'
const token = claimToken(randomBytes(32), { issuer: 'i', subject: 'me' }, domain)
const other = claimToken(randomBytes(32), { issuer: 'i', subject: 'me' }, domain)
const line = `dragoman-verify=${token}`
const file = '/.well-known/dragoman-challenge'
const mcpFile = '/.well-known/mcp-registry-auth'

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const public_key = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')
  return { privateKey, public_key, record: `v=MCPv1; k=ed25519; p=${public_key}` }
}

const signed = (key: KeyObject, text = line) => sign(null, Buffer.from(text), key)
const mine = keyPair()
const signature = signed(mine.privateKey).toString('base64')

test('an owner proves a domain by one way after another', async () => {
  await using site = await startSite()
  const claim = { domain, token, signature }
  const challenges = challengesFor(domain, token)

  const nothing = await site.prove(claim, signal)
  expect(nothing).toEqual({
    proof: null,
    attempts: [
      {
        method: 'dns',
        ok: false,
        detail: `There is no TXT record ${line} at _dragoman-challenge.example.com or example.com.`,
      },
      { method: 'http', ok: false, detail: `${site.web.origin}${file} answers with status 404.` },
      {
        method: 'mcp',
        ok: false,
        detail: `There is no TXT record v=MCPv1; k=ed25519; p=BASE64 at example.com, and: ${site.web.origin}${mcpFile} answers with status 404.`,
      },
    ],
  })

  site.dns.txt(challenges.dns.record.name, challenges.dns.record.value)
  expect((await site.prove(claim, signal)).proof).toEqual({ method: 'dns', domain })

  site.dns.clear(challenges.dns.record.name)
  expect((await site.prove(claim, signal)).proof).toBeNull()

  site.put(file, `# who may speak for us\r\ndragoman-verify=${other}\r\n  ${challenges.http.line} \r\n`)
  expect((await site.prove(claim, signal)).proof).toEqual({ method: 'http', domain })

  site.remove(file)
  site.dns.txt(domain, 'v=spf1 -all', mine.record)
  const { proof, attempts } = await site.prove(claim, signal)
  expect(proof).toEqual({ method: 'mcp', domain, public_key: mine.public_key, signature })
  expect(attempts.map(({ ok }) => ok)).toEqual([false, false, true])
})

describe('by DNS', () => {
  test('each place and each spelling is taken', async () => {
    await using site = await startSite()
    for (const { name, value } of challengesFor(domain, token).dns.alternatives) {
      site.dns.txt(name, 'something else', value)
      expect((await site.prove({ domain, token, method: 'dns' }, signal)).proof, name + value).not.toBeNull()
      site.dns.clear(name)
    }
  })

  test.each([
    ['another token', `dragoman-verify=${other}`],
    ['a prefix of the token', line.slice(0, -1)],
    ['the token and more', `${line}x`],
    ['the bare token', token],
    ['another case', line.toLowerCase()],
  ])('%s proves nothing', async (_, record) => {
    await using site = await startSite()
    site.dns.txt(`_dragoman-challenge.${domain}`, record)
    expect((await site.prove({ domain, token, method: 'dns' }, signal)).proof).toBeNull()
  })

  test("a record with another owner's token is distinguished from no record", async () => {
    await using site = await startSite()
    site.dns.txt(domain, `dragoman-verify=${other}`)
    const { attempts } = await site.prove({ domain, token, method: 'dns' }, signal)
    expect(attempts[0]?.detail).toContain("another owner's token")
  })

  test('one source is enough while the other fails, and a failure is reported', async () => {
    await using site = await startSite()
    site.dns.set(domain, { rcode: 'SERVFAIL' })
    const failure = await site.prove({ domain, token, method: 'dns' }, signal)
    expect(failure.attempts[0]?.detail).toContain('ESERVFAIL')
    site.dns.txt(`_dragoman-challenge.${domain}`, line)
    expect((await site.prove({ domain, token, method: 'dns' }, signal)).proof).not.toBeNull()
  })

  test('a name server that does not answer is a failed attempt', async () => {
    await using site = await startSite({ timeout_ms: 200 })
    site.dns.set(domain, 'silence')
    const { proof, attempts } = await site.prove({ domain, token, method: 'dns' }, signal)
    expect(proof).toBeNull()
    expect(attempts[0]?.detail).toContain('in time')
  })

  test('a record that is missing at the second check does not prove the domain', async () => {
    await using site = await startSite()
    site.dns.set(domain, { txt: [line] }, { rcode: 'NXDOMAIN' })
    expect((await site.prove({ domain, token, method: 'dns' }, signal)).proof).not.toBeNull()
    expect((await site.prove({ domain, token, method: 'dns' }, signal)).proof).toBeNull()
  })
})

describe('by a file', () => {
  const method = 'http'

  test('a redirect within the host is followed', async () => {
    await using site = await startSite()
    site.put(file, (_, response) => response.writeHead(302, { location: '/moved' }).end())
    site.put('/moved', line)
    expect((await site.prove({ domain, token, method }, signal)).proof).toEqual({ method, domain })
  })

  test('a redirect to another host does not prove the domain, even if it leads back', async () => {
    let back = ''
    await using elsewhere = await serve((_, response) => response.writeHead(302, { location: back }).end())
    await using site = await startSite({ allow_origins: [elsewhere.origin] })
    back = `${site.web.origin}/back`
    site.put(file, (_, response) => response.writeHead(302, { location: elsewhere.origin }).end())
    site.put('/back', line)
    const { proof, attempts } = await site.prove({ domain, token, method }, signal)
    expect(proof).toBeNull()
    expect(attempts[0]?.detail).toContain('so it does not prove the domain')
    expect(elsewhere.hits()).toBe(1)
  })

  test.each([
    ['a status other than 200', 403, {}, line],
    ['a type that is no text', 200, { 'content-type': 'image/png' }, line],
    ['more than 16 KB', 200, {}, `${line}\n${'x'.repeat(16 * 1024)}`],
    ['bytes that are no UTF-8', 200, {}, Buffer.concat([Buffer.from(`${line}\n`), Buffer.from([0xff])])],
    ['another token', 200, {}, `dragoman-verify=${other}`],
    ['a line that holds more', 200, {}, `<p>${line}</p>`],
    ['nothing', 200, {}, ''],
  ])('%s proves nothing', async (_, status, headers, body) => {
    await using site = await startSite()
    site.put(file, (_request, response) => response.writeHead(status, headers).end(body))
    const { proof, attempts } = await site.prove({ domain, token, method }, signal)
    expect(proof).toBeNull()
    expect(attempts).toHaveLength(1)
    expect(attempts[0]?.detail).toMatch(/\S.*\.$/)
  })

  test.each([{}, { 'content-type': 'application/octet-stream' }, { 'content-type': 'TEXT/Plain' }])(
    'the type %j is text',
    async (headers) => {
      await using site = await startSite()
      site.put(file, (_, response) => response.writeHead(200, headers).end(`\n${line}`))
      expect((await site.prove({ domain, token, method }, signal)).proof).not.toBeNull()
    },
  )

  test('a host that breaks off is an attempt that failed', async () => {
    await using site = await startSite()
    site.put(file, (request) => request.socket.destroy())
    const { proof, attempts } = await site.prove({ domain, token, method }, signal)
    expect(proof).toBeNull()
    expect(attempts[0]?.detail).toContain('could not be reached')
  })
})

describe("by the MCP registry's record", () => {
  const method = 'mcp'

  test.each([
    ['base64', signature],
    ['base64 without padding', signature.replaceAll('=', '')],
    ['base64url', signed(mine.privateKey).toString('base64url')],
    ['hexadecimal', signed(mine.privateKey).toString('hex')],
    ['upper-case hexadecimal and a line break', `${signed(mine.privateKey).toString('hex').toUpperCase()}\n`],
  ])('the signature is read in %s', async (_, encoded) => {
    await using site = await startSite()
    site.dns.txt(domain, mine.record)
    const { proof } = await site.prove({ domain, token, method, signature: encoded }, signal)
    expect(proof).toEqual({ method, domain, public_key: mine.public_key, signature })
  })

  test('the record may be a file, and a name server may then be without it', async () => {
    await using site = await startSite()
    site.put(mcpFile, `${mine.record}\n`)
    expect((await site.prove({ domain, token, method, signature }, signal)).proof).not.toBeNull()
  })

  test('several keys may be published, beside records that are broken', async () => {
    await using site = await startSite()
    site.dns.txt(domain, 'v=MCPv1; k=rsa; p=AAAA', keyPair().record, mine.record, 'v=MCPv1')
    const { proof } = await site.prove({ domain, token, method, signature }, signal)
    expect(proof?.public_key).toBe(mine.public_key)
  })

  test.each([
    ['no version', `k=ed25519; p=${mine.public_key}`, 'There is no TXT record'],
    ['another version', `v=MCPv2; k=ed25519; p=${mine.public_key}`, 'There is no TXT record'],
    ['no key', 'v=MCPv1; k=ed25519', 'not of the form'],
    ['fields in another order', `v=MCPv1; p=${mine.public_key}; k=ed25519`, 'not of the form'],
    ['another type of key', `v=MCPv1; k=ecdsap384; p=${mine.public_key}`, 'the key type is ecdsap384'],
    ['a short key', `v=MCPv1; k=ed25519; p=${randomBytes(31).toString('base64')}`, '32 bytes'],
    ['a long key', `v=MCPv1; k=ed25519; p=${randomBytes(33).toString('base64')}`, '32 bytes'],
    ['a key that is no base64', `v=MCPv1; k=ed25519; p=${'A'.repeat(42)}_=_`, '32 bytes'],
    ["another owner's key", keyPair().record, 'not by the key'],
  ])('a record with %s proves nothing', async (_, record, detail) => {
    await using site = await startSite()
    site.dns.txt(domain, record)
    const { proof, attempts } = await site.prove({ domain, token, method, signature }, signal)
    expect(proof).toBeNull()
    expect(attempts[0]?.detail).toContain(detail)
  })

  test.each([
    ['none', undefined, 'No signature'],
    ['too short', signature.slice(4), 'not 64 bytes'],
    ['no base64', '!'.repeat(88), 'not 64 bytes'],
    [
      "over another owner's token",
      signed(mine.privateKey, `dragoman-verify=${other}`).toString('base64'),
      'not by the key',
    ],
    ['over the bare token', signed(mine.privateKey, token).toString('base64'), 'not by the key'],
    ['by another key', signed(keyPair().privateKey).toString('base64'), 'not by the key'],
    ['of zeros', Buffer.alloc(64).toString('base64'), 'not by the key'],
  ])('a signature that is %s proves nothing', async (_, encoded, detail) => {
    await using site = await startSite()
    site.dns.txt(domain, mine.record)
    const { proof, attempts } = await site.prove({ domain, token, method, signature: encoded }, signal)
    expect(proof).toBeNull()
    expect(attempts[0]?.detail).toContain(detail)
  })

  test('when it is checked again the key must still be the one of the proof', async () => {
    await using site = await startSite()
    const claim = { domain, token, method, signature, public_key: mine.public_key } as const
    site.dns.txt(domain, mine.record)
    expect((await site.prove(claim, signal)).proof).not.toBeNull()
    const next = keyPair()
    site.dns.txt(domain, next.record)
    const rotated = await site.prove(claim, signal)
    expect(rotated.proof).toBeNull()
    expect(rotated.attempts[0]?.detail).toContain('no longer holds the key')
    const renewed = signed(next.privateKey).toString('base64')
    expect((await site.prove({ ...claim, signature: renewed }, signal)).proof).toBeNull()
    expect((await site.prove({ domain, token, method, signature: renewed }, signal)).proof).not.toBeNull()
  })

  test('a failing name server is reported, unless the file has the key', async () => {
    await using site = await startSite()
    site.dns.set(domain, { rcode: 'SERVFAIL' })
    const failure = await site.prove({ domain, token, method, signature }, signal)
    expect(failure.attempts[0]?.detail).toContain('ESERVFAIL')
    site.put(mcpFile, mine.record)
    expect((await site.prove({ domain, token, method, signature }, signal)).proof).not.toBeNull()
  })
})

test('only an abort by the caller ends it', async () => {
  await using site = await startSite()
  site.dns.set(domain, 'silence')
  site.put(file, () => {})
  const controller = new AbortController()
  const rejected = rejection(site.prove({ domain, token, signature }, controller.signal))
  controller.abort(new Error('gone'))
  expect(await rejected).toMatchObject({ message: 'gone' })
  expect(await rejection(site.prove({ domain, token }, controller.signal))).toMatchObject({ message: 'gone' })
})
