import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { challengesFor, claimToken } from '../../../src/registry/verification/challenge.ts'

const secret = randomBytes(32)
const owner = { issuer: 'https://issuer.example', subject: 'me' }
const token = claimToken(secret, owner, 'example.com')

describe('a claim token', () => {
  test('is 43 characters of base64url and stays the same', () => {
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(claimToken(secret, { ...owner }, 'example.com')).toBe(token)
  })

  test('is known for a known secret', () => {
    expect(claimToken(new Uint8Array(32), { issuer: 'i', subject: 's' }, 'example.com')).toBe(
      'Rh9xV3rfKTo3xZLVcfl9macXwJXV85-xwuVGfb0nU58',
    )
  })

  test('differs for another owner, issuer, domain and installation, however the parts are cut', () => {
    const others = [
      claimToken(secret, { ...owner, subject: 'you' }, 'example.com'),
      claimToken(secret, { ...owner, issuer: 'https://other.example' }, 'example.com'),
      claimToken(secret, owner, 'weather.example.com'),
      claimToken(randomBytes(32), owner, 'example.com'),
      claimToken(secret, { issuer: `${owner.issuer}me`, subject: '' }, 'example.com'),
      claimToken(secret, { issuer: owner.issuer, subject: 'me","example' }, 'com'),
    ]
    expect(new Set([token, ...others]).size).toBe(7)
  })
})

test('the challenges tell each place and text', () => {
  const txt = (name: string, value: string) => ({ name, type: 'TXT', value })
  expect(challengesFor('example.com', token)).toEqual({
    dns: {
      record: txt('_dragoman-challenge.example.com', `dragoman-verify=${token}`),
      alternatives: [
        txt('example.com', `dragoman-verify=${token}`),
        txt('_dragoman-challenge.example.com', `a2a-registry-verify=${token}`),
        txt('example.com', `a2a-registry-verify=${token}`),
      ],
    },
    http: {
      url: 'https://example.com/.well-known/dragoman-challenge',
      line: `dragoman-verify=${token}`,
    },
    mcp: {
      record: txt('example.com', 'v=MCPv1; k=ed25519; p=BASE64_OF_YOUR_PUBLIC_KEY'),
      url: 'https://example.com/.well-known/mcp-registry-auth',
      sign: `dragoman-verify=${token}`,
    },
  })
})
