import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { clientOptions } from '../../src/store/postgres/connect.ts'
import { isConflict, isUnreachable, storeFailure } from '../../src/store/postgres/faults.ts'
import { databaseAddress } from '../../src/store/postgres/redact-url.ts'

const withCode = (code: string) => Object.assign(new Error('x'), { code })

test.each([
  ['53100', 'storage_full'],
  ['25006', 'unavailable'],
  ['40001', 'unavailable'],
  ['40P01', 'unavailable'],
  ['55P03', 'unavailable'],
  ['57014', 'unavailable'],
  ['25P03', 'unavailable'],
  ['53300', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57P03', 'unavailable'],
  ['08006', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['ENOENT', 'unavailable'],
  ['28P01', 'not_configured'],
  ['3D000', 'not_configured'],
  ['42501', 'not_configured'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not_configured'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'not_configured'],
  ['22021', 'invalid_request'],
])('the error %s of PostgreSQL or its connection is %s to a caller', (thrown, code) => {
  const fault = withCode(thrown)
  expect(storeFailure(fault)).toMatchObject({ code, cause: fault })
})

test.each([
  'Connection terminated unexpectedly',
  'Query read timeout',
  'timeout exceeded when trying to connect',
])('an error of pg without a code is recognised by its message: %s', (words) => {
  expect(storeFailure(new Error(words))).toMatchObject({ code: 'unavailable' })
  expect(isUnreachable(storeFailure(new Error(words)))).toBe(true)
})

test('only a transaction that lost a conflict may be repeated', () => {
  expect(isConflict(storeFailure(withCode('40P01')))).toBe(true)
  expect(isConflict(storeFailure(withCode('57014')))).toBe(false)
})

test.each([
  [withCode('23505')],
  [withCode('42P01')],
  [new Error('x')],
  [new Failure('conflict', 'x')],
  [undefined],
])('other errors are thrown unchanged', (thrown) => expect(storeFailure(thrown)).toBe(thrown))

test.each([
  ['postgres://ada:secret@db.example.com:5433/registry?sslmode=require', 'db.example.com:5433/registry'],
  ['postgresql://db/registry?password=secret', 'db/registry'],
  ['postgresql:///registry?host=/run/postgresql', '/run/postgresql/registry'],
  ['postgres://', 'localhost'],
])('a database URL is shown without its secrets: %s', (url, shown) =>
  expect(databaseAddress(url)).toBe(shown),
)

test.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'sslmode=%s verifies the server, and the driver warns of nothing',
  (mode) => {
    const warned = vi.spyOn(process, 'emitWarning')
    const url = `postgresql://db.test/registry?sslmode=${mode}`
    const client = new pg.Client(clientOptions(url, { statement: 0, lock: 0 }))
    expect(client.ssl).toEqual({})
    expect(warned).not.toHaveBeenCalled()
  },
)
