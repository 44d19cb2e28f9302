import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const script = (name: string) => `${import.meta.dirname}/${name}.py`

/** Clients of A2A in other languages, beside those in JavaScript of test/doors: a program, and what goes before the address. */
const clients: readonly [string, string | undefined, string[]][] = [
  ['Python 1.3.0, A2A 1.0', installed('a2a-1.3.0/bin/python'), [script('a2a_1')]],
  ['Python 0.3.26, A2A 0.3', installed('a2a-0.3.26/bin/python'), [script('a2a_0_3')]],
  ['Go 0.3.3, A2A 0.3', installed('a2a-go-0.3.3'), []],
]

let home: TestGateway
beforeAll(async () => {
  home = await startGateway()
})
afterAll(() => home[Symbol.asyncDispose]())

describe.each(clients)('the client %s, where .ci/run has installed it,', (_, program, words) => {
  const ask = async (path: string) => {
    await using client = run(program ?? '', [...words, `${home.url}${path}`])
    return await client.ended
  }

  test.skipIf(!program)('finds the card below /a2a/v1 and is answered', async () => {
    const { code, stdout, stderr } = await ask('/a2a/v1')
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout).answer).toContain('svc.utility.reader')
  })

  // The card at the root lists capabilities before all else, which only the clients in JavaScript can read.
  test.skipIf(!program)('says that it cannot read the card of the envelope at the root', async () => {
    const { code, stdout } = await ask('')
    expect([code === 0, stdout]).toEqual([false, ''])
  })
})
