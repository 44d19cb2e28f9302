import { isRecord } from '../json.ts'

const capabilityOf: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** The methods with which a server may ask its client. */
export const questionMethods: ReadonlySet<string> = new Set(Object.keys(capabilityOf))

/** True if a client with these capabilities can answer every one of the questions (InputRequests of SEP-2322). */
export function canAnswer(
  capabilities: Readonly<Record<string, unknown>> | undefined,
  questions: Readonly<Record<string, unknown>>,
): boolean {
  return Object.values(questions).every((question) => {
    const method = isRecord(question) && typeof question.method === 'string' ? question.method : ''
    const capability = Object.hasOwn(capabilityOf, method) ? capabilityOf[method] : undefined
    return capability !== undefined && capabilities?.[capability] !== undefined
  })
}
