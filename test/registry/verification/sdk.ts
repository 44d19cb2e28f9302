import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk'
import type { JWK } from 'jose'
import type { makeKey } from './cards.ts'

type Key = Awaited<ReturnType<typeof makeKey>>

/** Whether the SDK accepts the card in its wire form. The SDK's types require a parsed card. */
export async function sdkAccepts(card: unknown, key: JWK): Promise<boolean> {
  return verifyAgentCardSignature(async () => key)(structuredClone(card) as AgentCard).then(
    () => true,
    () => false,
  )
}

/** Does it accept the card as its own client hands it over? */
export async function sdkClientAccepts(card: unknown, key: JWK): Promise<boolean> {
  return sdkAccepts(AgentCard.fromJSON(card), key)
}

/** The card with a signature by the SDK, over the card on the wire, or as its own server hands it over. */
export async function sdkSigned<Card extends object>(card: Card, key: Key, form: 'wire' | 'parsed' = 'wire') {
  const sign = generateAgentCardSignature(key.private_key, { alg: key.alg, kid: key.kid, typ: 'JOSE' })
  const { signatures } = await sign(
    form === 'parsed' ? AgentCard.fromJSON(card) : (structuredClone(card) as AgentCard),
  )
  return { ...card, signatures: JSON.parse(JSON.stringify(signatures)) }
}
