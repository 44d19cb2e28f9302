#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
if (Number(process.versions.node.split('.')[0]) >= 24) {
  module.enableCompileCache()
  // A process that is killed writes none at its end.
  setTimeout(module.flushCompileCache, 10_000).unref()
  const source = new URL('../src/cli/main.ts', import.meta.url)
  const main = existsSync(source) ? source : new URL('../dist/src/bundle/main.js', import.meta.url)
  const { start } = await import(main.href)
  await start()
} else if (existsSync(bundled)) {
  const child = spawn(bundled, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
} else {
  console.error(`Dragoman needs Node 24 or later; this is Node ${process.versions.node}.`)
  console.error('Install it from https://nodejs.org, or for this folder alone: npm install node@24')
  process.exitCode = 1
}
