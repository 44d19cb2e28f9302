// Mirrors a registry once: the gateway with everything on, or, as the baseline, a program that stores the same
// documents in SQLite page by page. Each request runs it over a fresh folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { announce } from './measure.ts'

const [, , kind = 'gateway', source = ''] = process.argv
const run = kind === 'gateway' ? mirror : store

const server = createServer(async (_, response) => {
  const data = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
  try {
    response.end(String(await run(data)))
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** Returns the number of agents, once searches find them by their words and their meaning. */
async function mirror(data: string): Promise<number> {
  const environment = { DRAGOMAN_DATA: data, DRAGOMAN_ALLOW_ORIGINS: source, DRAGOMAN_LOG: 'warn' }
  await using gateway = await openGateway(readConfig(environment))
  const { mirrors, store, tailer, vectors } = gateway
  const input = { source: `${source}/v0.1`, name: 'other', every_s: 3600, filter: [] }
  await mirrors.add(input, new AbortController().signal)
  await mirrors.start('other')
  await mirrors.ended('other')
  const revision = await store.read.revision()
  await Promise.all([tailer.caughtUp(revision), vectors.caughtUp(revision)])
  return (await mirrors.list())[0]?.counts.created ?? 0
}

interface Page {
  readonly servers: readonly { readonly server: { readonly name: string; readonly version: string } }[]
  readonly metadata: { readonly nextCursor?: string }
}

async function store(data: string): Promise<number> {
  using database = new DatabaseSync(join(data, 'bare.sqlite'))
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec('create table server (name text, version text, document text, primary key (name, version))')
  const insert = database.prepare('insert or replace into server values (?, ?, ?)')
  let count = 0
  let cursor = ''
  do {
    const answer = await fetch(`${source}/v0.1/servers?limit=100&cursor=${encodeURIComponent(cursor)}`)
    const page = (await answer.json()) as Page
    database.exec('begin immediate')
    for (const row of page.servers) insert.run(row.server.name, row.server.version, JSON.stringify(row))
    database.exec('commit')
    count += page.servers.length
    cursor = page.metadata.nextCursor ?? ''
  } while (cursor)
  return count
}
