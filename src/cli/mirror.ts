import { setTimeout as pause } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Mirror, MirrorCounts } from '../../schemas/mirror.ts'
import { readConfig } from '../app/config.ts'
import { createLogger } from '../telemetry/log.ts'
import { ask, type Client, openClient } from './client.ts'
import { readSeconds } from './input.ts'
import { marked, print, say } from './output.ts'
import { askRegistry } from './send.ts'

interface AddOptions {
  readonly name?: string
  readonly kind?: string
  readonly every: string
  readonly filter?: string[]
  readonly license?: string
  readonly attribution?: string
  readonly takedown?: string
}

const pollMilliseconds = 300

/** Adds a mirror; `serve` runs it. */
export async function addMirror(source: string, options: AddOptions, json: boolean): Promise<void> {
  const { every, ...stated } = options
  const every_s = readSeconds('--every', every)
  const mirror = await askRegistry<Mirror>('add_mirror', { source, every_s, ...stated })
  if (json) return print(mirror)
  print(`${mirror.name} mirrors ${mirror.url} every ${every}.`)
  say(`A running gateway reads it within seconds. To read it now: dragoman mirror run ${mirror.name}`)
}

export async function listMirrors(json: boolean): Promise<void> {
  const { mirrors } = await askRegistry<MirrorList>('list_mirrors')
  if (json) return print({ mirrors })
  if (mirrors.length === 0) say('There is no mirror. To add one: dragoman mirror add official')
  for (const mirror of mirrors) for (const line of linesOf(mirror)) print(line)
}

/** Runs a mirror to its end and shows how far it is. Throws Failure if the run failed. */
export async function runMirror(name: string, json: boolean): Promise<void> {
  const config = readConfig()
  // A run that fails is said at its end: a warning with a stack would say it twice.
  const log = createLogger(config.DRAGOMAN_LOG ?? 'error')
  await using client = await openClient(config, undefined, log)
  let mirror = await ask<Mirror>(client, 'run_mirror', { name })
  const bar = new SingleBar({
    stream: process.stderr,
    format: 'mirroring: {value} agents, {state}',
    noTTYOutput: false,
  })
  bar.start(0, 0, { state: '' })
  while (mirror.status === 'running') {
    bar.update(total(mirror.counts), { state: countsText(mirror.counts) })
    await pause(pollMilliseconds)
    mirror = await named(client, name)
  }
  bar.stop()
  if (json) print(mirror)
  const { error } = mirror
  if (mirror.status === 'failing' && error) {
    throw new Failure('upstream_failed', `The source failed: ${error.message}`, {
      hint:
        error.code === 'too_large'
          ? `The next run meets the same limit. To read less: dragoman mirror remove ${name}, then add it again with --filter (docs/mirror.md).`
          : 'The next run continues where this one ended.',
    })
  }
  if (json) return
  for (const { key, reason } of mirror.rejections) say(`${key}: ${reason}`)
  print(countsText(mirror.counts))
}

export async function removeMirror(name: string, json: boolean): Promise<void> {
  const counts = await askRegistry<{ removed: number; left: number }>('remove_mirror', { name })
  if (json) return print(counts)
  print(`${counted(counts.removed, 'agent')} removed, ${counts.left} left because of an owner here`)
}

interface MirrorList {
  readonly mirrors: readonly Mirror[]
}

async function named(client: Client, name: string): Promise<Mirror> {
  const { mirrors } = await ask<MirrorList>(client, 'list_mirrors')
  const mirror = mirrors.find((candidate) => candidate.name === name)
  if (mirror) return mirror
  throw new Failure('not_found', `There is no mirror ${name}.`, { hint: 'See: dragoman mirror list' })
}

function total({ created, updated, unchanged, removed }: MirrorCounts): number {
  return created + updated + unchanged + removed
}

function countsText({ created, updated, unchanged, removed, rejected }: MirrorCounts): string {
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${removed} removed, ${rejected} left out`
}

function linesOf(mirror: Mirror): string[] {
  const { name, url, kind, every_s, status, finished_at, next_at, error } = mirror
  return [
    `${name}: ${url} (${kind}, every ${every_s} s)`,
    `  ${status}; last run ${finished_at ?? 'never'}, next ${next_at}`,
    `  ${countsText(mirror.counts)}`,
    ...(error ? [`  ${error.at} ${error.code}: ${marked(error.message)}`] : []),
  ]
}
