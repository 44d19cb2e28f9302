import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isRecord } from '../../../schemas/json.ts'
import { Fault, faults } from '../../../src/transports/mcp/protocol-2026/fault.ts'

type Schema = Readonly<Record<string, unknown>>

/** What a server may ask of a client (SEP-2322). */
export const elicit = (
  message: string,
  properties: Schema,
  required: string[] = Object.keys(properties),
) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
})
export const sample = (words: string, maxTokens: number) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
})
export const roots = { method: 'roots/list' }

export interface Question {
  readonly method: string
  readonly params?: object
}

const needed: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** A result that asks for more. Throws Fault -32021 where the client did not say that it can answer. */
export function inputRequired(
  inputRequests: Readonly<Record<string, Question>>,
  capabilities: object,
  requestState?: string,
): object {
  const lacking = Object.values(inputRequests)
    .map(({ method }) => needed[method] ?? method)
    .filter((capability) => !(capability in capabilities))
  if (lacking.length > 0) {
    const requiredCapabilities = Object.fromEntries(lacking.map((name) => [name, {}]))
    throw new Fault(faults.missingCapability, `The client lacks ${lacking.join(', ')}.`, {
      status: 400,
      data: { requiredCapabilities },
    })
  }
  return {
    resultType: 'input_required',
    inputRequests,
    ...(requestState !== undefined && { requestState }),
  }
}

/** The content of an accepted elicitation among the answers. */
export function accepted(answers: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const answer = isRecord(answers) ? answers[name] : undefined
  if (!isRecord(answer) || answer.action !== 'accept') return undefined
  return isRecord(answer.content) ? answer.content : undefined
}

const key = randomBytes(32)
const seal = (payload: string) => createHmac('sha256', key).update(payload).digest()

/** State that goes to the client and comes back: readable, and of our making only with its seal. */
export function mint(state: object): string {
  const payload = Buffer.from(JSON.stringify(state)).toString('base64url')
  return `${payload}.${seal(payload).toString('base64url')}`
}

/** Throws Fault -32602 for a state that is not ours. */
export function verified(state: unknown): Readonly<Record<string, unknown>> | undefined {
  if (state === undefined) return undefined
  const [payload = '', signature = ''] = String(state).split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const own = seal(payload)
  if (bytes.length !== own.length || !timingSafeEqual(bytes, own)) {
    throw new Fault(faults.invalidParams, 'The requestState is not one that was given out.')
  }
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}
