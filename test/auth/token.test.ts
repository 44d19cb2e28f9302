import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { authenticatorOf, loadSigningKey } from '../support/authenticator.ts'
import { run, temporaryFolder } from '../support/command.ts'

const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())

/** Runs `dragoman token create` over the folder of this test. */
async function create(words: string, environment: Record<string, string> = {}) {
  const args = ['token', 'create', ...words.split(' ').filter(Boolean)]
  const { code, stdout, stderr } = await run(args, { DRAGOMAN_DATA: folder.path, ...environment })
  return { code, stdout, stderr, token: stdout.trim() }
}

describe('dragoman token create', () => {
  test('prints only a token, valid for thirty days and for every scope but admin', async () => {
    const { code, stdout, stderr, token } = await create('--sub ada')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const { iat = 0, exp = 0, ...claims } = decodeJwt(token)
    expect(exp - Math.floor(iat)).toBe(30 * 86_400)
    expect(claims).toMatchObject({ sub: 'ada', client_id: 'ada', ns: [], jti: expect.any(String) })
    expect(claims.scope).toBe('agents:read agents:write agents:publish a2a:call playground')

    const key = await loadSigningKey(`${folder.path}/keys/signing.json`)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: key.kid })
    const principal = await authenticatorOf(key, `urn:dragoman:${key.kid}`, Date.now)(token)
    expect(principal.subject).toBe('ada')
  })

  test('stands for the person at this machine where no subject is given', async () => {
    expect(decodeJwt((await create('')).token)).toMatchObject({ sub: 'person:local' })
  })

  test('takes scopes, namespaces and a time, apart or together', async () => {
    const { token } = await create(
      '--sub ada --scope agents:read,admin --scope a2a:call --namespace com.a,com.b org.c --ttl 15m',
    )
    const { iat = 0, exp = 0, scope, ns } = decodeJwt(token)
    expect(scope).toBe('agents:read admin a2a:call')
    expect(ns).toEqual(['com.a', 'com.b', 'org.c'])
    expect(exp - Math.floor(iat)).toBe(900)
  })

  test('issues with the base URL as issuer if it is set', async () => {
    const { token } = await create('--sub ada', { DRAGOMAN_BASE_URL: 'https://registry.example/' })
    expect(decodeJwt(token)).toMatchObject({
      iss: 'https://registry.example',
      aud: expect.stringMatching(/^urn:dragoman:/),
    })
  })

  test.each([
    '--sub ada --ttl soon',
    '--sub ada --ttl 0',
    '--sub ada --ttl -5',
    '--sub ada --ttl 366d',
    '--sub ada --ttl 1e9',
    '--sub ada --scope everything',
    '--sub ada --tll 5m',
    `--sub ${'a'.repeat(201)}`,
    `--sub ada ${Array.from({ length: 60 }, (_, at) => `--namespace com.${'x'.repeat(150)}${at}`).join(' ')}`,
  ])('refuses "%s" as usage, with a word, and prints no token', async (words) => {
    const { code, stdout, stderr } = await create(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.length).toBeGreaterThan(10)
    expect(stderr).not.toContain('    at ')
  })
})
