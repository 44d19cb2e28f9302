import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { hidesAny } from '../../../schemas/text.ts'
import { isLoopback } from '../../common/loopback.ts'
import type { RpcError } from '../../common/mcp/message.ts'
import { canAnswer } from '../../common/mcp/questions.ts'
import { textOf } from '../refusal.ts'
import type { Question } from '../remote-agent.ts'
import { visitsRequired } from './failure.ts'

/** The agent that asks. */
interface Asker {
  readonly package_name: string
  /** Origins of this gateway: no agent may send a user there. */
  readonly own_origins: () => readonly string[]
}

/**
 * The capabilities that a server sees: those that the client states. A client that can answer no question still gets
 * forms, as `input_required`.
 */
export function offeredCapabilities(capabilities?: JsonObject): JsonObject {
  if (capabilities === undefined) return formsAlone
  const offered = Object.fromEntries(
    Object.entries(offers).flatMap(([name, parts]) => {
      const stated = capabilities[name]
      if (stated === undefined) return []
      const own = isRecord(stated) ? stated : {}
      return [[name, Object.fromEntries(parts.filter((part) => part in own).map((part) => [part, {}]))]]
    }),
  )
  return offered.elicitation || offered.sampling ? offered : { ...offered, ...formsAlone }
}

const formsAlone: JsonObject = { elicitation: { form: {} } }

/** The capabilities that pass, with their parts: few combinations, since each has connections of its own. */
const offers: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  sampling: ['tools'],
  roots: [],
}

const maxQuestions = 10
const maxCharacters = 64 * 1024

/**
 * The questions of a server as its clients see them: each form and each address states who asks. Throws Failure
 * `upstream_invalid` for a question that no agent may ask: for a secret, for a visit to this gateway, or for something
 * that the client does not offer.
 */
export function checkedQuestions(questions: JsonObject, capabilities: JsonObject, asker: Asker): JsonObject {
  const entries = Object.entries(questions)
  if (entries.length > maxQuestions || JSON.stringify(questions).length > maxCharacters) {
    throw refusal(asker, `asks more than ${maxQuestions} questions, or ${maxCharacters} characters of them`)
  }
  if (!canAnswer(capabilities, questions)) {
    throw refusal(asker, 'asks for something that the client does not offer')
  }
  return Object.fromEntries(
    entries.map(([key, question]) => [
      key,
      checkedQuestion(question as unknown as Question, capabilities, asker),
    ]),
  )
}

/**
 * An error of a server as its clients see it: the addresses that it has them visit are questions. Throws Failure
 * `upstream_invalid` for an address that no agent may name.
 */
export function checkedError(
  { code, message, data }: RpcError,
  capabilities: JsonObject,
  asker: Asker,
): RpcError {
  if (code !== visitsRequired) return { code, message, ...(data !== undefined && { data }) }
  const stated = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations.filter(isRecord) : []
  const { elicitation } = capabilities
  if (!isRecord(elicitation) || elicitation.url === undefined || stated.length === 0) return { code, message }
  const visits = stated.map((params, at) => [
    String(at),
    { method: 'elicitation/create', params: { ...params, mode: 'url' } },
  ])
  const checked = checkedQuestions(Object.fromEntries(visits), capabilities, asker)
  const elicitations = Object.values(checked).map((question) => (question as unknown as Question).params)
  return { code, message, data: { elicitations } }
}

function checkedQuestion(question: Question, { elicitation }: JsonObject, asker: Asker): JsonObject {
  const params = isRecord(question.params) ? question.params : {}
  if (question.method === 'roots/list') return { ...question }
  const shown =
    question.method === 'elicitation/create' ? elicited(params, elicitation, asker) : sampled(params, asker)
  if (hidesAny(shown)) throw refusal(asker, 'hides characters in a question')
  return { ...question, params: shown }
}

/** A form or an address, in whose words the agent that asks has its name. */
function elicited(
  params: Readonly<Record<string, unknown>>,
  elicitation: Json | undefined,
  asker: Asker,
): JsonObject {
  if (params.url !== undefined || params.mode === 'url') {
    if (!isRecord(elicitation) || elicitation.url === undefined) {
      throw refusal(asker, 'asks its caller to visit an address, which the client does not offer')
    }
    assertForeign(params.url, asker)
  }
  assertNoSecret(params.requestedSchema, asker)
  const message = `${asker.package_name} asks: ${textOf(params.message) ?? ''}`
  return { ...(params as JsonObject), message }
}

/** The agent speaks to the model in its own name, and gets no context of other servers. */
function sampled({ systemPrompt, ...params }: Readonly<Record<string, unknown>>, asker: Asker): JsonObject {
  const words = typeof systemPrompt === 'string' ? ` ${systemPrompt}` : ''
  const named = `A request of the agent ${asker.package_name}, which is a third party:${words}`
  return { ...(params as JsonObject), includeContext: 'none', systemPrompt: named }
}

function assertForeign(url: unknown, asker: Asker): void {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw refusal(asker, 'names an address that is not http or https')
  const own = asker.own_origins().map((origin) => new URL(origin))
  if (own.some((origin) => isSameHost(origin, address)))
    throw refusal(asker, 'sends its caller to this gateway')
}

/** Hosts, not origins: HTTP leads to HTTPS. A gateway on loopback answers under each name of it. */
function isSameHost(own: URL, address: URL): boolean {
  if (isLoopback(own.hostname) && isLoopback(address.hostname)) return own.port === address.port
  return own.host === address.host.replace(/\.(?=:|$)/, '')
}

const secretWords = new Set([
  'password',
  'passwords',
  'passwd',
  'pwd',
  'passphrase',
  'passcode',
  'pin',
  'secret',
  'secrets',
  'token',
  'bearer',
  'authorization',
  'credential',
  'credentials',
  'apikey',
])
const secretPairs = /\b(api|access|private|secret|signing|auth) keys?\b/

/** A form must not ask for secrets (MCP 2025-06-18, Elicitation, Security): the gateway's own token is one. */
function assertNoSecret(schema: unknown, asker: Asker): void {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {}
  for (const [name, property] of Object.entries(properties)) {
    const title = isRecord(property) && typeof property.title === 'string' ? property.title : ''
    if (isSecret(name) || isSecret(title)) {
      throw refusal(asker, `asks for a secret (${name.slice(0, 50)}), which a form must not`)
    }
  }
}

function isSecret(name: string): boolean {
  const words = name
    .normalize('NFKC')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''))
  return words.some((word) => secretWords.has(word)) || secretPairs.test(words.join(' '))
}

function refusal({ package_name }: Asker, what: string): Failure {
  return new Failure('upstream_invalid', `${package_name} ${what}; the question is not passed on.`)
}
