// Everyday intents over real lists: is a right agent first, or among the first three; and does an answer say so when no
// agent fits?
import { parseArgs } from 'node:util'
import { type Agent, ask, Intent, importLists, isRight, Request, read } from './asking.ts'
import { openEvaluated } from './gateway.ts'
import { bootstrap, mean } from './metrics.ts'

const usage = `npm run eval:intents -- LIST… [--part open|closed] [--fit calibration|report] [--misses] [--json]

LIST is a file that the import reads: MCP servers, cards or documents of an MCP registry, one a line.
--part  the half of the intents to ask (open); the closed half is for the end of a change
--fit   asks the requests that agents serve and those that none serves, and counts what the answers say
--misses names the intents without a right agent in the first place, and the answers`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', default: 'open' },
    fit: { type: 'string' },
    misses: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help || positionals.length === 0) {
  process.stderr.write(`${usage}\n`)
  process.exit(values.help ? 0 : 1)
}

await using opened = await openEvaluated()
const { gateway } = opened
await importLists(gateway, positionals)
const result = values.fit === undefined ? await askIntents(values.part) : await askRequests(values.fit)
if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)

async function askIntents(part: string) {
  const intents = read(`intents/english/${part}.jsonl`, Intent)
  const outcomes: { kind: string; place: number }[] = []
  for (const intent of intents) {
    const { agents } = await ask(gateway, intent.text)
    const place = agents.findIndex((agent) => isRight(intent, agent))
    outcomes.push({ kind: intent.kind, place })
    if (values.misses && place !== 0) reportMiss(intent, agents, place)
  }
  const kinds = ['all', ...new Set(outcomes.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const places = outcomes
      .filter((outcome) => kind === 'all' || outcome.kind === kind)
      .map(({ place }) => place)
    const successes = ([1, 3] as const).map((depth) => {
      const hits: number[] = places.map((place) => (place >= 0 && place < depth ? 1 : 0))
      return { depth, success: mean(hits), interval: bootstrap(hits) }
    })
    if (!values.json) reportSuccess(kind, places.length, successes)
    return { kind, intents: places.length, successes }
  })
}

/** Counts the notices of requests that agents serve (false alarms) and of those that none serves (what was said). */
async function askRequests(part: string) {
  const requests = read(`fit/${part}.jsonl`, Request)
  const outcomes: { text: string; served: boolean; noticed: boolean }[] = []
  for (const request of requests) {
    const { notice, agents } = await ask(gateway, request.text)
    const noticed = notice !== undefined
    outcomes.push({ ...request, noticed })
    if (values.misses && noticed === request.served)
      process.stdout.write(`${noticed ? 'false alarm' : 'not said'}: ${request.text}: ${agents[0]?.name}\n`)
  }
  const shareOf = (served: boolean) => {
    const hits: number[] = outcomes
      .filter((outcome) => outcome.served === served)
      .map(({ noticed }) => (noticed ? 1 : 0))
    return { requests: hits.length, noticed: mean(hits), interval: bootstrap(hits) }
  }
  const summary = { unserved: shareOf(false), served: shareOf(true) }
  if (!values.json)
    for (const [name, { requests: count, noticed, interval }] of Object.entries(summary))
      process.stdout.write(`${name} (${count}): notice in ${share(noticed)}, ${between(interval)}\n`)
  return summary
}

function reportMiss({ kind, text }: Intent, agents: readonly Agent[], place: number): void {
  const first = agents.slice(0, 4).map(({ name }) => name)
  const where = place < 0 ? 'not found' : `place ${place + 1}`
  process.stdout.write(`${kind}: ${text}: ${where}: ${first.join(' | ')}\n`)
}

function reportSuccess(
  kind: string,
  count: number,
  successes: readonly { depth: number; success: number; interval: readonly [number, number] }[],
): void {
  const figures = successes.map(
    ({ depth, success, interval }) => `success@${depth} ${share(success)} (${between(interval)})`,
  )
  process.stdout.write(`${kind.padEnd(11)} ${String(count).padStart(3)}  ${figures.join('  ')}\n`)
}

function share(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

function between([low, high]: readonly [number, number]): string {
  return `95 % interval ${share(low)} to ${share(high)}`
}
