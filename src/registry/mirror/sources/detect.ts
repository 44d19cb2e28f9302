import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import type { MirrorKind } from '../../../../schemas/mirror.ts'
import { parseJson } from '../../../common/json.ts'
import type { ReadSource } from './read-source.ts'

const maxBytes = 64 * 1024 * 1024

/** Finds out what is at a URL. Throws Failure `upstream_invalid` where nothing is that can be mirrored. */
export async function detectKind(url: string, read: ReadSource, signal: AbortSignal): Promise<MirrorKind> {
  const base = url.replace(/\/+$/, '')
  if (/\/v0(\.\d+)?$/.test(base)) return 'mcp-registry'
  const found = await kindOfAnswer(url, read, signal)
  if (found) return found
  for (const version of ['/v0.1', '/v0']) {
    if ((await statusOf(`${base}${version}/servers?limit=1`, read, signal)) === 200) return 'mcp-registry'
  }
  if ((await statusOf(new URL('/.well-known/ard.json', url).href, read, signal)) === 200) return 'ard'
  throw new Failure('upstream_invalid', `${new URL(url).host} has nothing there that can be mirrored.`, {
    hint: 'Give the base URL of an MCP registry, an ard.json, a list of URLs of A2A cards, or a file of JSON lines; or state its kind.',
  })
}

async function statusOf(url: string, read: ReadSource, signal: AbortSignal): Promise<number> {
  return (await read(url, maxBytes, signal)).status
}

async function kindOfAnswer(
  url: string,
  read: ReadSource,
  signal: AbortSignal,
): Promise<MirrorKind | undefined> {
  const { status, body } = await read(url, maxBytes, signal)
  if (status !== 200) return undefined
  const text = new TextDecoder().decode(body).trim()
  const whole = parseJson(text)
  if (isRecord(whole) && Array.isArray(whole.entries)) return 'ard'
  if (isRecord(whole) && Array.isArray(whole.servers)) return 'mcp-registry'
  if (Array.isArray(whole)) return whole.every((item) => typeof item === 'string') ? 'cards' : undefined
  const [first = ''] = text.split('\n', 1)
  if (isRecord(parseJson(first))) return 'lines'
  return /^(#|https?:\/\/\S+$)/.test(first.trim()) ? 'cards' : undefined
}
