// Requests in nineteen languages over a list of mostly English agents: is a right one first, or among the first three?
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { readConfig } from '../../src/app/config.ts'
import { type Gateway, openGateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../../test/support/command.ts'
import { bootstrap, mean } from './metrics.ts'

const usage = `npm run eval:languages -- LIST [--half open|aside|both] [--verbose]

LIST holds MCP servers, one a line, as bench/eval/intents/languages expects them. Half of the requests are set aside,
for a measurement after the last change.`

const Intent = z.object({ query: z.string(), right: z.string(), half: z.enum(['open', 'aside']) })
type Intent = z.infer<typeof Intent>

const batch = 500
const { signal } = new AbortController()
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    half: { type: 'string', default: 'open' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [list] = positionals
if (values.help || list === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(values.help ? 0 : 1)
}

await using folder = await temporaryFolder()
const config = readConfig({
  ...process.env,
  PORT: '0',
  DRAGOMAN_DATA: folder.path,
  DRAGOMAN_RATE_LIMIT: 'off',
})
await using gateway = await openGateway(config, { log: createLogger('error') })
await importList(gateway, list)

const all: { first: number; third: number }[] = []
for (const [language, intents] of readIntents()) {
  const found: typeof all = []
  for (const { query, right } of intents) {
    const texts = await search(query)
    const pattern = new RegExp(right, 'i')
    const rank = texts.findIndex((text) => pattern.test(text))
    found.push({ first: rank === 0 ? 1 : 0, third: rank >= 0 && rank < 3 ? 1 : 0 })
    if (values.verbose && rank !== 0) {
      const names = texts.map((text) => text.slice(0, 24)).join(' | ')
      process.stdout.write(`  ${language} ${rank < 0 ? '-' : rank + 1}  ${query}  ->  ${names}\n`)
    }
  }
  report(language, found)
  all.push(...found)
}
report('all', all)
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')

function* readIntents(): Generator<[language: string, intents: Intent[]]> {
  const intents = fileURLToPath(new URL('intents/languages/', import.meta.url))
  for (const name of readdirSync(intents).sort()) {
    const lines = readFileSync(`${intents}${name}`, 'utf8').split('\n').filter(Boolean)
    const read = lines.map((line) => Intent.parse(JSON.parse(line)))
    yield [basename(name, '.jsonl'), read.filter(({ half }) => [half, 'both'].includes(values.half))]
  }
}

async function importList(to: Gateway, path: string): Promise<void> {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  for (let at = 0; at < lines.length; at += batch) {
    const params = { lines: lines.slice(at, at + batch), first_line: at + 1 }
    await to.dispatch(
      { to: 'svc.registry', action: 'import_entries', params },
      { principal: localPrincipal, client: 'local', signal },
    )
  }
  const revision = await to.store.read.revision()
  while (to.vectors.progress().applied_revision < revision || to.vectors.progress().next) {
    await to.vectors.caughtUp(revision)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The texts of the first three agents that the request finds. */
async function search(query: string): Promise<string[]> {
  const { output } = await gateway.dispatch(
    { to: 'svc.registry', action: 'search_agents', params: { query, limit: 3 } },
    { principal: localPrincipal, client: 'local', signal },
  )
  const { agents } = output as { agents: { name: string; description: string; package_name: string }[] }
  return agents.map(({ name, description, package_name }) => `${name} ${description} ${package_name}`)
}

function report(name: string, found: readonly { first: number; third: number }[]): void {
  const figures = (['first', 'third'] as const).map((measure) => {
    const each = found.map((item) => item[measure])
    const [low, high] = bootstrap(each)
    return `@${measure === 'first' ? 1 : 3} ${mean(each).toFixed(3)} (${low.toFixed(2)} to ${high.toFixed(2)})`
  })
  process.stdout.write(`${name.padEnd(4)} ${found.length} requests: ${figures.join('  ')}\n`)
}
