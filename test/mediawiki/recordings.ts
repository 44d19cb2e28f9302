import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fetch } from '../../src/net/fetch/fetch.ts'
import { replay, type Seen } from '../support/replay.ts'
import type { WikiSource } from './suite.ts'

/** Query string → body, as the server sent it, with its address replaced. Made by `record.ts`. */
type Recordings = Record<string, string>

const path = join(import.meta.dirname, 'recordings.json')
const standIn = 'http://wiki.example'

/** A server that replays the answers of a real one. */
export async function openRecorded(): Promise<WikiSource> {
  const recordings: Recordings = JSON.parse(readFileSync(path, 'utf8'))
  const say = ({ query, body: form }: Seen) => {
    const body = recordings[keyOf(new URLSearchParams([...query, ...new URLSearchParams(form)]))]
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    return body === undefined ? { status: 404, body: 'not recorded' } : { headers, body }
  }
  const server = await replay({ 'GET /api.php': say, 'POST /api.php': say })
  return { api: `${server.url}/api.php`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** The same source; its answers are written to the file when it is disposed. */
export function recording(source: WikiSource): WikiSource {
  const recordings: Recordings = {}
  const server = new URL(source.api).origin
  const observe =
    (fetch: Fetch): Fetch =>
    async (request) => {
      const response = await fetch(request)
      const body = new TextDecoder().decode(response.body)
      const query = new URLSearchParams(request.body ?? new URL(request.url).search)
      recordings[keyOf(query)] = body.replaceAll(server, standIn)
      return response
    }
  return {
    api: source.api,
    observe,
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]()
      const sorted = Object.entries(recordings).toSorted(([left], [right]) => (left < right ? -1 : 1))
      writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`)
    },
  }
}

function keyOf(query: URLSearchParams): string {
  return decodeURIComponent(new URLSearchParams([...query].toSorted()).toString().replaceAll('+', ' '))
}
