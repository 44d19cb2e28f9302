import { describe, expect, test } from 'vitest'
import type { PackageSource, ResolvedPackage } from '../../src/runner/runner.ts'
import { startPackageRegistry } from '../support/package-registry.ts'
import { commandPuppet, puppet } from '../support/puppet.ts'
import { lacking, openTestRunner } from '../support/runner.ts'

const never = new AbortController().signal

function npm(identifier: string, version = 'latest'): PackageSource {
  return { registry_type: 'npm', identifier, version }
}

describe.skipIf(lacking)('a package of npm', () => {
  test('is resolved to one version, locked as of its publication, installed without scripts, and answers', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    const library = {
      name: 'library',
      files: { 'index.js': 'module.exports = require("./package.json").version' },
    }
    registry.publish({ ...library, version: '1.0.0', published_at: '2024-01-01T00:00:00.000Z' })
    registry.publish({ ...library, version: '2.0.0', published_at: '2026-01-01T00:00:00.000Z' })
    registry.publish({
      ...puppet,
      manifest: {
        ...puppet.manifest,
        dependencies: { library: '>=1' },
        scripts: { postinstall: 'echo ran > ran' },
      },
      published_at: '2025-01-01T00:00:00.000Z',
      deprecated: 'use another',
    })
    const resolved = await world.runner.resolve(npm('puppet'), never)
    expect(resolved).toMatchObject({
      source: { version: '1.0.0' },
      published_at: '2025-01-01T00:00:00.000Z',
      warning: 'Deprecated: use another',
    })
    const progress: string[] = []
    const installed = await world.runner.install(resolved, { scripts: false }, never, (text) =>
      progress.push(text),
    )
    expect(installed).toMatchObject({ dependencies: 1, as_of: '2025-01-02T00:00:00.000Z' })
    expect(progress).toEqual(['Locks the dependencies', 'Installs 2 packages'])
    await using child = await world.run({ name: 'puppet' })
    const attempt = commandPuppet(child)
    expect(await attempt((require, _, name) => require(name), 'library')).toEqual({ value: '1.0.0' })
    const files = await attempt((require) => require('node:fs').readdirSync('/package/node_modules/puppet'))
    expect(files).toEqual({ value: ['package.json', 'puppet.js'] })

    // Approved scripts are another installation.
    await using other = await world.run({ name: 'puppet' }, { scripts: true })
    const more = await commandPuppet(other)((require) =>
      require('node:fs').readdirSync('/package/node_modules/puppet'),
    )
    expect(more.value).toContain('ran')
  })

  test('is not looked for again when its lock is approved and installed', async () => {
    const registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    registry.publish(puppet)
    const resolved = await world.runner.resolve(npm('puppet'), never)
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    await registry[Symbol.asyncDispose]()
    expect((await world.runner.install(resolved, { scripts: false, lock }, never)).lock).toBe(lock)
    await expect(world.runner.resolve(npm('puppet'), never)).rejects.toMatchObject({
      code: 'upstream_failed',
    })
  })

  test('that changed after its approval is not installed', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    registry.publish(puppet)
    const resolved = await world.runner.resolve(npm('puppet'), never)
    registry.publish({ ...puppet, files: { 'puppet.js': 'other' } })
    const changed = { code: 'precondition_failed', message: 'puppet 1.0.0 has changed in the registry.' }
    await expect(world.runner.install(resolved, { scripts: false }, never)).rejects.toMatchObject(changed)
    const now = await world.runner.resolve(npm('puppet'), never)
    const lock = 'a'.repeat(64)
    await expect(world.runner.install(now, { scripts: false, lock }, never)).rejects.toMatchObject({
      code: 'precondition_failed',
      message: 'The dependencies of puppet 1.0.0 differ from the approved ones.',
    })
  })

  test('that cannot be run has an error of its own', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    const files = { 'a.js': '' }
    registry.publish({ ...puppet, name: '@scope/many', manifest: { bin: { a: 'a.js', b: 'a.js' } }, files })
    registry.publish({ name: 'library', version: '1.0.0', files })
    registry.publish({ name: 'outside', version: '1.0.0', files, manifest: { bin: '../../../etc/passwd' } })
    registry.publish({ name: 'future', version: '3.0.0', files, manifest: { engines: { node: '>=99' } } })
    registry.publish({
      name: 'broken',
      version: '1.0.0',
      files,
      manifest: { bin: 'a.js', dependencies: { nothing: '1' } },
    })
    registry.publish({ ...puppet, version: '0.9.0' })
    registry.publish(puppet)
    registry.unpublish('puppet', '0.9.0')

    const failure = async (source: PackageSource) => {
      const install = async (resolved: ResolvedPackage) =>
        await world.runner.install(resolved, { scripts: false }, never)
      return await world.runner
        .resolve(source, never)
        .then(install)
        .then(
          () => undefined,
          ({ code, message, details }) => ({ code, message, hint: details.hint }),
        )
    }
    expect(await failure(npm('missing'))).toMatchObject({
      code: 'not_found',
      message: 'npm has no package missing.',
    })
    expect(await failure(npm('puppet', '7.0.0'))).toEqual({
      code: 'not_found',
      message: 'Version 7.0.0 of puppet does not exist.',
      hint: 'The newest version is 1.0.0.',
    })
    expect(await failure(npm('puppet', '0.9.0'))).toMatchObject({
      message: 'Version 0.9.0 of puppet was removed from the registry.',
    })
    expect(await failure(npm('puppet', '^1.0.0'))).toBeUndefined()
    expect(await failure(npm('future'))).toMatchObject({
      code: 'not_installable',
      message: `future 3.0.0 needs Node.js >=99; here is ${process.version}.`,
    })
    expect(await failure(npm('@scope/many'))).toMatchObject({
      code: 'not_installable',
      message: '@scope/many 1.0.0 has several programs and none of its name: a, b.',
    })
    expect(await failure(npm('library'))).toMatchObject({ message: 'library 1.0.0 has no program.' })
    expect((await failure(npm('outside')))?.code).toBe('not_installable')
    expect((await failure(npm('broken')))?.message).toMatch(
      /^The dependencies of broken 1\.0\.0 cannot be resolved: .*404/s,
    )
    expect(await failure(npm('$(touch /tmp/x)'))).toMatchObject({ code: 'invalid_request' })
    expect(await failure(npm('../other'))).toMatchObject({ code: 'invalid_request' })
  })

  test('is not installed without a sandbox, and the error names what to install', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry, { path: '/nowhere' })
    await expect(world.runner.resolve(npm('puppet'), never)).rejects.toMatchObject({
      code: 'not_configured',
      message: expect.stringMatching(/bubblewrap \(bwrap\) is not installed.*Install bubblewrap/),
    })
    expect(await world.runner.sandbox()).toMatchObject({
      kind: null,
      problem: expect.stringContaining('bubblewrap'),
    })
  })
})
