#!/usr/bin/env node
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const needed = 24
const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
if (Number(process.versions.node.split('.')[0]) >= needed) {
  module.enableCompileCache()
  const source = new URL('../src/cli/main.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/src/cli/main.js', import.meta.url).href)
} else if (existsSync(bundled)) {
  process.exitCode = spawnSync(bundled, process.argv.slice(1), { stdio: 'inherit' }).status ?? 1
} else {
  console.error(`Dragoman needs Node ${needed} or later; this is Node ${process.versions.node}.`)
  process.exitCode = 1
}
