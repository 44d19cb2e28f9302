// Writes src/client/rest/schema.ts: the types of the OpenAPI document, by openapi-typescript.
// usage: node scripts/rest-client/generate.ts [FOLDER]
// FOLDER is where openapi-typescript is installed with TypeScript 5, whose API it needs; that of .ci/run when absent.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { digestLine, restDocument } from './document.ts'

const cache = process.env.DRAGOMAN_CI_CACHE ?? join(homedir(), '.cache/dragoman-ci')
const tools = process.argv[2] ?? join(cache, 'clients/openapi-typescript-7.13.0')
const target = resolve(import.meta.dirname, '../../src/client/rest/schema.ts')
const folder = mkdtempSync(join(tmpdir(), 'dragoman-types-'))
try {
  const config = readConfig({ PORT: '0', DRAGOMAN_DATA: join(folder, 'data'), DRAGOMAN_LIVENESS: 'off' })
  await using gateway = await openGateway(config, { log: createLogger('silent') })
  const document = restDocument(gateway.agents)
  const path = join(folder, 'openapi.json')
  writeFileSync(path, document)
  const flags = ['--root-types', '--root-types-no-schema-prefix', '--root-types-keep-casing']
  const settings = [...flags, '--default-non-nullable', 'false']
  execFileSync(join(tools, 'node_modules/.bin/openapi-typescript'), [path, '-o', target, ...settings])
  writeFileSync(target, `${digestLine(document)}\n\n${readFileSync(target, 'utf8')}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
execFileSync(resolve(import.meta.dirname, '../../node_modules/.bin/biome'), ['check', '--write', target])
