import { isRecord } from '../../../schemas/json.ts'
import { parseJson } from '../../common/json.ts'

/**
 * An answer of an endpoint of OAuth in the only form that oauth4webapi reads:
 *
 * - a success has the expected status: servers register clients with 200 too;
 * - an error has no challenge, which the library would report in its place (RFC 6749, section 5.2, wants both);
 * - tokens come without an ID token, which nobody has asked for and whose algorithm is that of the server;
 * - a secret has an end, 0 for none: the SDK of MCP in Python leaves it out (RFC 7591, section 3.2.1).
 */
export async function readableAnswer(response: Response, status: number): Promise<Response> {
  const text = await response.text()
  return new Response(readableText(text), {
    status: response.ok ? status : response.status,
    headers: { 'Content-Type': response.headers.get('content-type') ?? '' },
  })
}

function readableText(text: string): string {
  if (!/"(id_token|client_secret)"/.test(text)) return text
  const answer = parseJson(text)
  const { id_token: _, ...body } = isRecord(answer) ? answer : {}
  return JSON.stringify(body.client_secret === undefined ? body : { client_secret_expires_at: 0, ...body })
}
