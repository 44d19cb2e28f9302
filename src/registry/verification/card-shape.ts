/**
 * The members of a card that a version of A2A defines, at each level. `value`: a string, number or boolean; `flag`: a
 * boolean that defaults to false; `any`: taken unchanged.
 */
export type CardShape =
  | 'value'
  | 'flag'
  | 'any'
  | { readonly members: Readonly<Record<string, CardShape>>; readonly is_choice?: boolean }
  | { readonly each: CardShape }
  | { readonly list: CardShape }

const object = (members: Readonly<Record<string, CardShape>>): CardShape => ({ members })
/** Of several members, only the first one in this list counts (oneof). */
const choice = (members: Readonly<Record<string, CardShape>>): CardShape => ({ members, is_choice: true })
const values = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, 'value' as const]))
const texts: CardShape = { list: 'value' }

const provider = object(values('organization', 'url'))
const extensions: CardShape = {
  list: object({ ...values('uri', 'description'), required: 'flag', params: 'any' }),
}

const scopes: CardShape = { each: 'value' }
const flows = choice({
  authorizationCode: object({
    ...values('authorizationUrl', 'tokenUrl', 'refreshUrl'),
    scopes,
    pkceRequired: 'flag',
  }),
  clientCredentials: object({ ...values('tokenUrl', 'refreshUrl'), scopes }),
  implicit: object({ ...values('authorizationUrl', 'refreshUrl'), scopes }),
  password: object({ ...values('tokenUrl', 'refreshUrl'), scopes }),
  deviceCode: object({ ...values('deviceAuthorizationUrl', 'tokenUrl', 'refreshUrl'), scopes }),
})
const requirements: CardShape = { list: object({ schemes: { each: object({ list: texts }) } }) }

const skill = {
  ...values('id', 'name', 'description'),
  tags: texts,
  examples: texts,
  inputModes: texts,
  outputModes: texts,
}

const card = {
  ...values('name', 'description', 'version', 'documentationUrl', 'iconUrl'),
  supportedInterfaces: { list: object(values('url', 'protocolBinding', 'tenant', 'protocolVersion')) },
  provider,
  capabilities: object({ ...values('streaming', 'pushNotifications', 'extendedAgentCard'), extensions }),
  securitySchemes: {
    each: choice({
      apiKeySecurityScheme: object(values('description', 'location', 'name')),
      httpAuthSecurityScheme: object(values('description', 'scheme', 'bearerFormat')),
      oauth2SecurityScheme: object({ ...values('description', 'oauth2MetadataUrl'), flows }),
      openIdConnectSecurityScheme: object(values('description', 'openIdConnectUrl')),
      mtlsSecurityScheme: object(values('description')),
    }),
  },
  securityRequirements: requirements,
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: { list: object({ ...skill, securityRequirements: requirements }) },
} satisfies Readonly<Record<string, CardShape>>

/** AgentCard of A2A 1.0 (specification/a2a.proto), as @a2a-js/sdk 1.3.0 reads it; without `signatures`. */
export const cardShape: CardShape = object(card)

/**
 * The form that the SDK's own client and server sign and verify: they canonicalise a parsed card, which drops the
 * content of the security schemes.
 */
export const parsedCardShape: CardShape = object({ ...card, securitySchemes: { each: object({}) } })

const oldRequirements: CardShape = { list: { each: texts } }

/** AgentCard of A2A 0.3 (specification/json/a2a.json). Security schemes are OpenAPI's, taken unchanged. */
export const oldCardShape: CardShape = object({
  ...values('protocolVersion', 'name', 'description', 'url', 'preferredTransport', 'iconUrl', 'version'),
  ...values('documentationUrl', 'supportsAuthenticatedExtendedCard'),
  additionalInterfaces: { list: object(values('url', 'transport')) },
  provider,
  capabilities: object({
    ...values('streaming', 'pushNotifications', 'stateTransitionHistory'),
    extensions,
  }),
  securitySchemes: { each: 'any' },
  security: oldRequirements,
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: { list: object({ ...skill, security: oldRequirements }) },
})
