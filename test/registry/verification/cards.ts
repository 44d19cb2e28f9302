import {
  base64url,
  exportJWK,
  FlattenedSign,
  generateKeyPair,
  type JWK,
  type JWSHeaderParameters,
} from 'jose'
import { type CardCheck, verifyCard } from '../../../src/registry/verification/card-signature.ts'

/** A card that has each kind of member that A2A 1.0 defines, none of them empty. */
export const fullCard = {
  name: 'Weather',
  description: 'Forecasts — für überall 🌦',
  version: '1.2.0',
  documentationUrl: 'https://example.com/docs',
  iconUrl: 'https://example.com/icon.png',
  supportedInterfaces: [
    { url: 'https://example.com/a2a', protocolBinding: 'JSONRPC', tenant: 't', protocolVersion: '1.0' },
  ],
  provider: { organization: 'Example', url: 'https://example.com' },
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [
      {
        uri: 'https://example.com/extension',
        description: 'Ours',
        required: true,
        params: { agent_id: 'custom.com.example.weather', limit: 1.5e-7, deep: { list: [1, 'two', true] } },
      },
    ],
  },
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { description: 'JWT', scheme: 'Bearer', bearerFormat: 'JWT' } },
    key: { apiKeySecurityScheme: { description: 'Key', location: 'header', name: 'X-Key' } },
    oauth: {
      oauth2SecurityScheme: {
        description: 'OAuth',
        oauth2MetadataUrl: 'https://example.com/.well-known/oauth',
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://example.com/authorize',
            tokenUrl: 'https://example.com/token',
            refreshUrl: 'https://example.com/refresh',
            scopes: { read: 'Read' },
            pkceRequired: true,
          },
        },
      },
    },
    oidc: {
      openIdConnectSecurityScheme: { description: 'OIDC', openIdConnectUrl: 'https://example.com/oidc' },
    },
    mutual: { mtlsSecurityScheme: { description: 'mTLS' } },
  },
  securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 'forecast',
      name: 'Forecast',
      description: 'Tells the weather',
      tags: ['weather', 'umbrella'],
      examples: ['Will it rain?'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
      securityRequirements: [{ schemes: { bearer: { list: ['x'] } } }],
    },
  ],
}

const { securitySchemes: _, ...withoutSchemes } = fullCard
export const openCard = withoutSchemes

/** A card of A2A 1.0 with fields of 0.3 and one unknown field. */
export const mixedCard = {
  ...fullCard,
  agent_id: 'custom.com.example.weather',
  url: 'https://example.com/a2a',
  preferredTransport: 'JSONRPC',
  protocolVersion: '0.3.0',
}

/** The domain that the cards of these tests belong to. */
export const domain = 'example.com'

/** Checks a card against the keys that its domain publishes. */
export async function check(card: unknown, ...keys: readonly JWK[]): Promise<CardCheck> {
  return verifyCard(card, { domain, keysOf: async () => keys }, new AbortController().signal)
}

/** A key pair and its public part as a domain publishes it. */
export async function makeKey(alg: string, kid = 'key-1') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid }
  return { private_key: privateKey, jwk, kid, alg }
}

/** A signature over exactly this text, with exactly this header. */
export async function signText(
  text: string,
  key: Parameters<FlattenedSign['sign']>[0],
  header: JWSHeaderParameters,
) {
  const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key)
  return { protected: jws.protected ?? '', signature: jws.signature }
}

/** A protected header that no library would sign under. */
export const encodeHeader = (header: unknown) => base64url.encode(JSON.stringify(header))

type Path = readonly (string | number)[]

/** The path of each leaf of a JSON value. */
export function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, child]) =>
    leavesOf(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

/** A deep copy with one leaf changed, or left out. */
export function altered<T>(value: T, path: Path, change: (leaf: unknown) => unknown): T {
  const copy = structuredClone(value)
  const parent = path
    .slice(0, -1)
    .reduce<Record<string | number, unknown>>(
      (at, key) => at[key] as Record<string | number, unknown>,
      copy as Record<string | number, unknown>,
    )
  const last = path.at(-1)!
  const next = change(parent[last])
  if (next !== undefined) parent[last] = next
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  return copy
}
