import { expect, test } from 'vitest'
import { pypi } from '../../src/runner/packages/pypi.ts'
import { missingPrograms } from '../../src/runner/programs.ts'

test('a machine without package managers names each, and what to install', async () => {
  const missing = await missingPrograms('/nowhere')
  expect(missing).toContainEqual(
    expect.stringMatching(/^Packages of PyPI need uv, which was not found\. Install uv /),
  )
  expect(missing).toContainEqual(expect.stringMatching(/^Packages of PyPI need Python 3,/))
})

test('a package that cannot be installed here fails before its registry is asked', async () => {
  const source = { registry_type: 'pypi' as const, identifier: 'weather', version: '1.0.0' }
  const registry = {
    base: 'https://pypi.example',
    path: '/nowhere',
    signal: new AbortController().signal,
    run: () => Promise.reject(new Error('It was asked.')),
  }
  await using work = { root: '', package: '', home: '', async [Symbol.asyncDispose]() {} }
  await expect(pypi.resolve(source, registry, work)).rejects.toThrow('need uv')
})
