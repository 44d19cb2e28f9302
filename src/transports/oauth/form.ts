import type { IncomingMessage } from 'node:http'
import { formBody, readBody } from '../http/body.ts'
import { OAuthRefusal } from './refusal.ts'

/** The fields of a form; each once, but `resource` (RFC 6749 section 3.2, RFC 8707 section 2). Empty ones are left out. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readBody(request, formBody)).toString('utf8'))
  for (const name of new Set(form.keys())) {
    if (name !== 'resource' && form.getAll(name).length > 1) {
      throw new OAuthRefusal('invalid_request', 'A parameter is given more than once.')
    }
  }
  return new URLSearchParams([...form].filter(([, value]) => value !== ''))
}
