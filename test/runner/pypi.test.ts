import { describe, expect, test } from 'vitest'
import { satisfiesPython } from '../../src/runner/packages/python-versions.ts'
import type { PackageSource } from '../../src/runner/runner.ts'
import { startPackageRegistry } from '../support/package-registry.ts'
import { commandPuppet, pythonPuppet } from '../support/puppet.ts'
import { lackingUv, openTestRunner } from '../support/runner.ts'

const never = new AbortController().signal

function pypi(identifier: string, version = 'latest'): PackageSource {
  return { registry_type: 'pypi', identifier, version }
}

describe.skipIf(lackingUv)('a package of PyPI', () => {
  test('is resolved to one version, locked as of its publication, installed from wheels, and answers', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    const library = { name: 'library', files: { 'library.py': '' } }
    registry.publishWheel({ ...library, version: '1.0.0', published_at: '2024-01-01T00:00:00Z' })
    registry.publishWheel({ ...library, version: '2.0.0', published_at: '2026-01-01T00:00:00Z' })
    registry.publishWheel({ ...pythonPuppet, version: '0.9.0' })
    registry.publishWheel({ ...pythonPuppet, version: '2.0.0rc1' })
    registry.publishWheel({ ...pythonPuppet, requires: ['library>=1'], published_at: '2025-01-01T00:00:00Z' })
    const resolved = await world.runner.resolve(pypi('Python_Puppet'), never)
    expect(resolved).toMatchObject({
      source: { version: '1.0.0' },
      published_at: '2025-01-01T00:00:00Z',
      warning: null,
    })
    expect(await world.runner.install(resolved, { scripts: false }, never)).toMatchObject({
      dependencies: 1,
      as_of: '2025-01-02T00:00:00.000Z',
    })
    await using child = await world.run({ name: 'python-puppet', type: 'pypi' })
    const attempt = commandPuppet(child)
    const version = 'from importlib.metadata import version; result = version("library")'
    expect(await attempt(version)).toEqual({ value: '1.0.0' })
  })

  test('that changed after its approval, or that cannot be run, has an error of its own', async () => {
    await using registry = await startPackageRegistry()
    await using world = await openTestRunner(registry)
    registry.publishWheel(pythonPuppet)
    const resolved = await world.runner.resolve(pypi('python-puppet'), never)
    registry.publishWheel({ ...pythonPuppet, files: { 'other.py': '' } })
    await expect(world.runner.install(resolved, { scripts: false }, never)).rejects.toMatchObject({
      code: 'precondition_failed',
      message: 'python-puppet 1.0.0 has changed in the registry.',
    })

    registry.publishWheel({ name: 'withdrawn', version: '1.0.0', files: {}, yanked: 'leaks keys' })
    registry.publishWheel({ name: 'future', version: '1.0.0', files: {}, python: '>=4.2' })
    registry.publishWheel({
      name: 'source',
      version: '1.0.0',
      files: { 'setup.py': 'raise SystemExit(1)' },
      isSource: true,
    })
    registry.publishWheel({ name: 'library', version: '1.0.0', files: {} })
    registry.publishWheel({ name: 'broken', version: '1.0.0', files: {}, requires: ['nothing>=1'] })
    const failure = (source: PackageSource) =>
      world.runner
        .resolve(source, never)
        .then((found) => world.runner.install(found, { scripts: false }, never))
        .then(
          () => undefined,
          ({ code, message }) => ({ code, message }),
        )
    expect(await failure(pypi('missing'))).toEqual({
      code: 'not_found',
      message: 'PyPI has no package missing.',
    })
    expect(await failure(pypi('python-puppet', '9'))).toEqual({
      code: 'not_found',
      message: 'Version 9 of python-puppet does not exist.',
    })
    expect(await failure(pypi('withdrawn', '1.0.0'))).toEqual({
      code: 'not_installable',
      message: 'withdrawn 1.0.0 was withdrawn (yanked) by its publisher: leaks keys.',
    })
    expect(await failure(pypi('future', '1.0.0'))).toMatchObject({
      code: 'not_installable',
      message: expect.stringMatching(/^future 1\.0\.0 needs Python >=4\.2; here is 3\./),
    })
    expect((await failure(pypi('source')))?.message).toMatch(
      /^(The dependencies of|uv cannot install) source 1\.0\.0/,
    )
    expect((await failure(pypi('library')))?.message).toBe('library 1.0.0 has no program.')
    expect((await failure(pypi('broken')))?.message).toMatch(
      /^The dependencies of broken 1\.0\.0 cannot be resolved/,
    )
    expect((await failure(pypi('--index-url=x')))?.code).toBe('invalid_request')
  })
})

test.each([
  ['3.11.7', '>=3.10', true],
  ['3.11.7', '>=3.10,<4', true],
  ['3.11.7', '>=3.12', false],
  ['3.11.7', '==3.11.*', true],
  ['3.11.7', '!=3.11.*', false],
  ['3.11.7', '~=3.10', true],
  ['3.11.7', '~=3.10.2', false],
  ['3.9.1', '<3.9', false],
  ['3.11.7', '', true],
])('Python %s satisfies %j: %s', (version, specifiers, expected) => {
  expect(satisfiesPython(version, specifiers)).toBe(expected)
})
