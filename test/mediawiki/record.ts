// Records the answers of a real MediaWiki to the wiki agent's whole suite: node test/mediawiki/record.ts
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { isInstalled } from './peer.ts'

const root = resolve(import.meta.dirname, '../..')
const suite = join(import.meta.dirname, 'mediawiki.test.ts')

if (!isInstalled()) {
  console.error('There is no MediaWiki here to record: see .ci/run for the packages of Debian.')
  process.exitCode = 1
} else {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const env = { ...process.env, DRAGOMAN_RECORD_MEDIAWIKI: '1' }
  process.exitCode =
    spawnSync(process.execPath, [vitest, 'run', suite], { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
