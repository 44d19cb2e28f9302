import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { command } from '../src/app/assets.ts'
import { readConfig } from '../src/app/config.ts'
import { openGateway } from '../src/app/gateway.ts'
import { localPrincipal } from '../src/auth/authenticator.ts'
import { median, type Row } from './support/measure.ts'

const entries = 10_000
const rounds = 7
const run = promisify(execFile)

/**
 * A start with 10,000 embedded entries until the gateway reports that it listens, against node opening the same SQLite
 * file.
 */
export async function start(): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), 'dragoman-start-'))
  try {
    await fill(data)
    const bare = `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(${JSON.stringify(join(data, 'registry.sqlite'))}).prepare('select value from counter').get()`
    await listening(data)
    const own: number[] = []
    const other: number[] = []
    for (let round = 0; round < rounds; round++) {
      own.push(await timed(() => listening(data)))
      other.push(await timed(() => run(process.execPath, ['-e', bare])))
    }
    const [value, baseline] = [median(own), median(other)]
    const rounded = (number: number) => Number(number.toPrecision(4))
    return [
      {
        name: `start with ${entries} embedded entries`,
        value: rounded(value),
        unit: 'ms',
        baseline: rounded(baseline),
        ratio: Number((value / baseline).toPrecision(3)),
      },
    ]
  } finally {
    rmSync(data, { recursive: true })
  }
}

async function fill(data: string): Promise<void> {
  await using gateway = await openGateway(readConfig({ PORT: '0', DRAGOMAN_DATA: data }))
  const call = { principal: localPrincipal, client: 'local' as const, signal: new AbortController().signal }
  for (let at = 0; at < entries; at += 500) {
    const lines = Array.from({ length: 500 }, (_, index) =>
      JSON.stringify({
        name: `Agent ${at + index}`,
        description: `Answers questions of kind ${(at + index) % 97} about topic ${at + index}, in plain words.`,
        url: `https://example.com/${at + index}`,
      }),
    )
    await gateway.dispatch({ to: 'svc.registry', action: 'import_entries', params: { lines } }, call)
  }
}

/** Starts the gateway, waits until it listens, and ends it. */
async function listening(data: string): Promise<void> {
  const environment = { ...process.env, PORT: '0', DRAGOMAN_DATA: data, DRAGOMAN_LOG: 'warn' }
  const child = spawn(process.execPath, [command, 'serve'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      if (text.includes('is listening on')) resolve()
    })
    child.on('exit', (code) => reject(new Error(`The gateway ended with ${code}.`)))
  })
  child.kill('SIGKILL')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
