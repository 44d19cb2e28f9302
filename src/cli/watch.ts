import { setTimeout as pause } from 'node:timers/promises'
import type { ChangePage, RegistryChange } from '../../schemas/change.ts'
import { openClient } from './client.ts'
import { readNumber } from './input.ts'
import { bold, coloured, print, printLine, say } from './output.ts'

/** Milliseconds between two looks; a caller without a token may make 600 reads a minute. */
const pollMilliseconds = 1000

/** Prints the changes of the registry as they happen, until Ctrl+C. */
export async function watch(
  options: { readonly since?: string; readonly until?: string; readonly agent?: string },
  json: boolean,
): Promise<void> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  try {
    await follow(options, json, stop.signal)
  } catch (fault) {
    if (!stop.signal.aborted) throw fault
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

async function follow(
  options: { readonly since?: string; readonly until?: string; readonly agent?: string },
  json: boolean,
  signal: AbortSignal,
): Promise<void> {
  await using client = await openClient()
  const look = async (since: number) =>
    (await client.send({
      to: 'svc.registry',
      action: 'watch_changes',
      params: { since, ...(options.agent !== undefined && { agent: options.agent }) },
    })) as unknown as ChangePage
  const revisionOf = (option: string, text: string) => readNumber(option, text, 0, Number.MAX_SAFE_INTEGER)
  const until = options.until === undefined ? Infinity : revisionOf('--until', options.until)
  let since = options.since === undefined ? (await look(0)).revision : revisionOf('--since', options.since)
  if (!json) say(`Following the registry from revision ${since}. Ctrl+C ends.`)
  while (!signal.aborted) {
    const { changes, next_since, more } = await look(since)
    for (const change of changes) {
      if (change.revision > until) return
      if (json) printLine(change)
      else print(lineOf(change))
    }
    since = next_since
    if (since >= until) return
    if (!more) await pause(pollMilliseconds, undefined, { signal })
  }
}

function lineOf(change: RegistryChange): string {
  const { at, revision, kind, package_name } = change
  const detail =
    change.kind === 'liveness'
      ? coloured(change.liveness.status)
      : change.kind === 'listed'
        ? (change.agent.version ?? '')
        : ''
  return `${at} r${revision} ${kind} ${bold(package_name)} ${detail}`.trimEnd()
}
