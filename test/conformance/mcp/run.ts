/**
 * The official MCP conformance suite, what each revision requires of a server, against the gateway as it ships,
 * with a baseline of what needs fixture tools, and against a fixture with all of those on the same transport code,
 * with none: over HTTP, through a bridge over WebSocket, pipes and `connect`, and listed as an agent of the gateway.
 * `node run.ts [results.json]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startGateway } from '../../support/gateway.ts'
import { Results } from '../results.ts'
import { startFixture } from './fixture.ts'
import { startConnectBridge, startPipeBridge, startSocketBridge } from './lines.ts'
import { startListed } from './listed.ts'
import { findSuite, type RunOptions, revisions, runSuite } from './suite.ts'

const [path = 'results/conformance.json'] = process.argv.slice(2)
const results = new Results()

const program = findSuite()
if (program === undefined) {
  console.log('@modelcontextprotocol/conformance is not installed here: skipped.')
  results.pending = 6 * revisions.length
} else await runAll(program)

await results.write(path, 'MCP conformance')

async function runAll(suite: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'))
  try {
    await using product = await startGateway()
    await using fixture = await startFixture()
    await using socket = await startSocketBridge(fixture.service)
    await using pipes = await startPipeBridge(fixture.service)
    await using listed = await startListed(fixture.url)
    await using connected = await startConnectBridge(fixture.url)
    const baseline = (name: string) => resolve(import.meta.dirname, `baseline-${name}.yml`)
    const lines = { '2025-11-25': {}, '2026-07-28': { baseline: baseline('lines-2026-07-28') } }
    for (const revision of revisions) {
      const subjects = [
        ['the gateway', `${product.url}/mcp`, { baseline: baseline(revision) }],
        ['the fixture', fixture.url, {}],
        ['the fixture over WebSocket', socket.url, lines[revision]],
        ['the fixture over pipes', pipes.url, lines[revision]],
        ['the fixture over connect', connected.url, lines[revision]],
        ['the fixture, listed', listed.url, {}],
      ] as const
      for (const [subject, url, knownFailures] of subjects) {
        await run(suite, subject, {
          url,
          revision,
          folder: join(folder, `${subject} ${revision}`),
          ...knownFailures,
        })
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What is in the baseline does not count; one that passes all the same is a failure of the run. */
async function run(suite: string, subject: string, options: RunOptions): Promise<void> {
  const { revision } = options
  const { exit_code, output, scored } = await runSuite(suite, options)
  const passed = scored.filter((scenario) => scenario.passed).length
  results.passed += passed
  console.log(`${subject}, ${revision}: ${passed} of ${scored.length} scored scenarios passed`)
  if (exit_code === 0 && scored.length > 0) return
  console.log(output)
  const lacking = scored.filter((scenario) => !scenario.passed).map(({ name }) => name)
  results.fail(`${subject}, ${revision}`, `exit code ${exit_code}; not passed: ${lacking.join(', ')}`)
}
