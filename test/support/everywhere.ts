import { expect } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import type { Case } from '../transports/cases.ts'
import type { TestGateway } from './gateway.ts'
import { isForbidden } from './model-rights.ts'
import type { Outcome, TestTransport } from './transports.ts'

/**
 * The outcome of one case on every transport, but not as a model that may not call the action; on REST only if REST has
 * a row for the case.
 */
export async function askEverywhere(
  home: TestGateway,
  transports: readonly TestTransport[],
  { envelope, rest }: Pick<Case, 'envelope' | 'rest'>,
  token: string | undefined,
): Promise<Record<string, Outcome>> {
  const { action } = envelope as { readonly action?: unknown }
  const open = transports.filter(({ model }) => model === undefined || !isForbidden(action, model))
  const outcomes = open.map(async (context) => [context.name, await context.call(envelope, token)] as const)
  const byRest = rest ? [restOutcome(home, rest, token)] : []
  return Object.fromEntries(await Promise.all([...outcomes, ...byRest]))
}

/** Fails, naming the transport, if the outcome of a transport differs from that of the first. */
export function expectAlike(outcomes: Record<string, Outcome>): Outcome {
  const [first] = Object.values(outcomes)
  for (const [context, outcome] of Object.entries(outcomes)) {
    expect({ context, outcome }).toEqual({ context, outcome: first })
  }
  if (!first) throw new Error('No transport was asked.')
  return first
}

async function restOutcome(
  home: TestGateway,
  { method, path, body }: NonNullable<Case['rest']>,
  token: string | undefined,
): Promise<readonly [string, Outcome]> {
  const answer = await home.request(method, path, { body, token })
  if (answer.status < 400) return ['REST', { output: answer.json as Json }]
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.json.status).toBe(answer.status)
  return ['REST', { code: answer.json.code }]
}
