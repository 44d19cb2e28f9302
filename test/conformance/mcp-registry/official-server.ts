import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importPKCS8, SignJWT } from 'jose'
import { temporaryFolder } from '../../support/command.ts'
import { freePort } from '../../support/free-port.ts'
import type { OfficialRegistry, ServerJson } from '../../support/official-registry.ts'
import { installed } from '../../support/others.ts'
import { postgresFolder, startPostgres } from '../../support/postgres.ts'
import { run } from '../../support/processes.ts'

const program = installed('mcp-registry-1.8.5')

/** True if the official registry server can be run here: `.ci/run` has built it, and PostgreSQL is installed. */
export const haveOfficialServer = program !== undefined && postgresFolder !== undefined

/** The seed of the Ed25519 key that signs its tokens. */
const seed = '7f'.repeat(32)

/** Starts the official registry server v1.8.5 with those of the documents that it takes. */
export async function startOfficialServer(documents: readonly ServerJson[]): Promise<OfficialRegistry> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const file = join(folder.path, 'seed.json')
  await writeFile(file, JSON.stringify(documents))
  const database = stack.use(
    await startPostgres({
      autovacuum: 'on',
      autovacuum_naptime: '1s',
      shared_buffers: '128MB',
      synchronous_commit: 'off',
      jit: 'off',
    }),
  )
  const address = await databaseInByteOrder(database)

  const port = await freePort()
  const server = stack.use(
    run(program ?? '', [], {
      MCP_REGISTRY_SERVER_ADDRESS: `127.0.0.1:${port}`,
      MCP_REGISTRY_DATABASE_URL: address,
      MCP_REGISTRY_SEED_FROM: file,
      MCP_REGISTRY_JWT_PRIVATE_KEY: seed,
      // It would ask the package registries about each package.
      MCP_REGISTRY_ENABLE_REGISTRY_VALIDATION: 'false',
    }),
  )
  await server.printed(/HTTP server starting/)
  const url = `http://127.0.0.1:${port}`
  await untilReady(url)
  const token = await signToken()

  async function write(method: string, path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${url}/v0.1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  const versionPath = (name: string, version: string) =>
    `servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`
  const owned = stack.move()
  return {
    url,
    publish: (document) => write('POST', 'publish', document),
    edit: (document) => write('PUT', versionPath(document.name, document.version), document),
    setStatus: (name, version, status, message) =>
      write('PATCH', `${versionPath(name, version)}/status`, {
        status,
        ...(message !== undefined && { statusMessage: message }),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Its rows are in the order of the database's own language, which must not depend on the machine. */
async function databaseInByteOrder(database: Awaited<ReturnType<typeof startPostgres>>): Promise<string> {
  const url = await database.createDatabase()
  await database.query(
    url,
    `create database registry template template0 locale_provider libc locale 'C.UTF-8'`,
  )
  return url.replace(/(postgresql:\/\/\/)\w+/, '$1registry')
}

/** It says that it starts before it listens. */
async function untilReady(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v0.1/ping`).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A token of its administrator, with the right to every name. */
async function signToken(): Promise<string> {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(seed, 'hex'),
  ])
  const key = await importPKCS8(
    `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----`,
    'EdDSA',
  )
  const permissions = ['publish', 'edit'].map((action) => ({ action, resource: '*' }))
  return await new SignJWT({ auth_method: 'none', auth_method_sub: 'test', permissions })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setIssuer('mcp-registry')
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(key)
}
