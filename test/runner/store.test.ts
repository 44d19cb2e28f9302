import { expect, test } from 'vitest'
import type { Ecosystem } from '../../src/runner/packages/ecosystem.ts'
import { writeShared } from '../../src/runner/packages/files.ts'
import { openWorkspace } from '../../src/runner/packages/jobs.ts'
import { openPackageStore } from '../../src/runner/packages/store.ts'
import { temporaryFolder } from '../support/command.ts'

/** Packages without files or dependencies. */
const ecosystem: Ecosystem = {
  lockFile: 'lock.json',
  resolve: () => Promise.reject(new Error('It is resolved.')),
  async lock(_resolved, _before, { work }) {
    await writeShared(`${work.package}/lock.json`, '{}')
    return { dependencies: 0 }
  },
  async install() {},
  program: async () => ({ command: ['program'], reads: {} }),
}
const resolved = {
  source: { registry_type: 'npm', identifier: 'one', version: '1.0.0' },
  integrity: 'sha512-one',
  published_at: null,
  warning: null,
} as const

test('several installations of one package at the same time all succeed', async () => {
  await using folder = await temporaryFolder()
  const store = openPackageStore(folder.path)
  const signal = new AbortController().signal
  const install = async () => {
    await using work = await openWorkspace(folder.path, undefined)
    const registry = { base: '', path: '', signal, run: () => Promise.reject(new Error('It runs nothing.')) }
    const installation = { registry, work, scripts: false }
    return await store.install(ecosystem, resolved, { scripts: false }, installation, () => {})
  }
  const installed = await Promise.all(Array.from({ length: 20 }, install))
  expect(new Set(installed.map(({ lock }) => lock)).size).toBe(1)
})
