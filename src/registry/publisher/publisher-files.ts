import { Failure } from '../../../schemas/failure.ts'
import { type AgentIcon, iconSize, type Readme } from '../../../schemas/publisher-file.ts'
import { withoutHidden } from '../../../schemas/text.ts'
import { dayMilliseconds } from '../../common/days.ts'
import type { CacheSettings, UpstreamCall, Upstreams } from '../../common/upstream.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { textFlags } from '../entry/content-flags.ts'
import { iconOf, readmeOf } from './addresses.ts'
import type { DrawIcon } from './icon-drawer.ts'

type Stated = Pick<StoredEntry, 'package_name' | 'source_url' | 'card' | 'server'>

export interface PublisherFiles {
  /** False where the operator has switched the reading off. */
  readonly isOn: boolean
  /** Throws Failure `not_found` without a README, `not_configured`, and the errors of the request. */
  readme(entry: Stated, call: UpstreamCall): Promise<Readme>
  /** Throws Failure `not_found` without an icon, `not_configured`, and the errors of the request. */
  icon(entry: Stated, call: UpstreamCall): Promise<AgentIcon>
}

/** What was read at an address, or why nothing was: both are remembered. */
type Read<Value> = { readonly value: Value } | { readonly failure: Failure }

interface Text {
  /** Where it was read. */
  readonly url: string
  readonly text: string
}

/** One host gets a request a second from all visitors together, after the first 30. */
const limits = {
  gap_ms: 1_000,
  burst: 30,
  max_in_flight: 4,
  max_in_flight_per_caller: 2,
  max_rest_ms: 3_600_000,
}
const timeout_ms = 5_000
const maxBytes = 512 * 1024
const maxCharacters = 48_000
/** READMEs in memory, of 48,000 characters at most, and icons, of some 37 KB at most. */
const remembered = { readmes: 400, icons: 1_000 }
/** Failures without a request, or before its end: the next caller may try at once. */
const passing = new Set(['cancelled', 'rate_limited', 'circuit_open', 'unavailable'])

/**
 * Reads READMEs and icons at the servers of publishers, through the guard of all requests. What was read, or why nothing
 * was, is remembered for a day; after that it is shown for a week while it is read again. Without `files` nothing is read.
 */
export function createPublisherFiles(
  files: { readonly upstreams: Upstreams; readonly draw: DrawIcon } | undefined,
): PublisherFiles {
  if (!files) return { isOn: false, readme: notConfigured, icon: notConfigured }
  const { upstreams, draw } = files
  const ask = upstreams.create_upstream(limits)
  const readmes = upstreams.create_cache<Read<Text>>(lasting(remembered.readmes))
  const icons = upstreams.create_cache<Read<string>>(lasting(remembered.icons))

  const load = (url: string, accept: string, { signal, caller }: UpstreamCall) =>
    ask({ url, headers: { accept }, signal, caller, max_bytes: maxBytes, timeout_ms }, (answer) => {
      if (answer.status === 200) return answer
      const code = [404, 410].includes(answer.status) ? 'not_found' : 'upstream_failed'
      throw new Failure(code, `${url} answers ${answer.status}.`, { upstream: { status: answer.status } })
    })

  async function loadText(url: string, call: UpstreamCall): Promise<Text> {
    const { headers, body } = await load(url, 'text/markdown, text/plain', call)
    if (/^text\/(?:plain|markdown|x-markdown)\b/i.test(headers['content-type'] ?? '')) {
      return { url, text: withoutHidden(new TextDecoder().decode(body)) }
    }
    throw new Failure('upstream_invalid', `${url} is no plain text and no Markdown.`)
  }

  /** Repositories name the file README.md or readme.md, and servers of raw files tell the two apart. */
  async function loadReadme(url: string, call: UpstreamCall): Promise<Text> {
    try {
      return await loadText(url, call)
    } catch (thrown) {
      const inSmall = url.replace(/\/README\.md$/, '/readme.md')
      if (inSmall === url || Failure.from(thrown).code !== 'not_found') throw thrown
      return loadText(inSmall, call)
    }
  }

  async function loadIcon(url: string, call: UpstreamCall): Promise<string> {
    const { body } = await load(url, 'image/png, image/webp, image/jpeg, image/gif', call)
    return Buffer.from(await draw(body, call.signal)).toString('base64')
  }

  return {
    isOn: true,
    async readme(entry, call) {
      const address = readmeOf(entry)
      if (!address) throw new Failure('not_found', `No README of ${entry.package_name} is known.`)
      const { value, at } = await readmes(address.url, call, orFailure(address.url, loadReadme))
      const { url, text } = shown(value)
      return {
        package_name: entry.package_name,
        url,
        base_url: address.base_url,
        read_at: new Date(at).toISOString(),
        text: text.slice(0, maxCharacters).toWellFormed(),
        truncated: text.length > maxCharacters,
        content_flags: textFlags(text.slice(0, maxCharacters)),
      }
    },
    async icon({ package_name, ...entry }, call) {
      const url = iconOf(entry)
      if (url === null) throw new Failure('not_found', `No icon of ${package_name} is known.`)
      const { value, at } = await icons(url, call, orFailure(url, loadIcon))
      return {
        package_name,
        url,
        read_at: new Date(at).toISOString(),
        media_type: 'image/png',
        width: iconSize,
        height: iconSize,
        data: shown(value),
      }
    },
  }
}

async function notConfigured(): Promise<never> {
  throw new Failure('not_configured', 'This gateway reads no files of publishers.', {
    hint: 'The operator sets DRAGOMAN_PUBLISHER_FILES to on.',
  })
}

function lasting<Value>(entries: number): CacheSettings<Value> {
  return {
    entries,
    lifetime: () => dayMilliseconds,
    refresh: () => 6 * dayMilliseconds,
    stand_in: () => 7 * dayMilliseconds,
  }
}

/** A load whose failure is a result, so that a visitor cannot have it repeated. */
function orFailure<Value>(url: string, load: (url: string, call: UpstreamCall) => Promise<Value>) {
  return async (call: UpstreamCall): Promise<Read<Value>> => {
    try {
      return { value: await load(url, call) }
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (passing.has(failure.code)) throw failure
      return { failure }
    }
  }
}

function shown<Value>(read: Read<Value>): Value {
  if ('failure' in read) throw read.failure
  return read.value
}
