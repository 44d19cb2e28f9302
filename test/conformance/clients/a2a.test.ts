import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const script = (name: string) => `${import.meta.dirname}/${name}.py`

/**
 * Clients of A2A in other languages, beside those in JavaScript of test/transports: a program, what goes before the
 * address, and whether it can read what stands at the root, where capabilities are a list unless a client says its
 * version.
 */
const clients: readonly [string, string | undefined, string[], boolean][] = [
  ['Python 1.3.0, A2A 1.0', installed('a2a-1.3.0/bin/python'), [script('a2a_1')], true],
  ['Python 0.3.26, A2A 0.3', installed('a2a-0.3.26/bin/python'), [script('a2a_0_3')], false],
  ['Go 0.3.3, A2A 0.3', installed('a2a-go-0.3.3'), [], false],
]

let home: TestGateway
beforeAll(async () => {
  home = await startGateway()
})
afterAll(() => home[Symbol.asyncDispose]())

describe.each(clients)('the client %s, where .ci/run has installed it,', (_, program, words, atRoot) => {
  const ask = async (path: string) => {
    await using client = run(program ?? '', [...words, `${home.url}${path}`])
    return await client.ended
  }

  test.skipIf(!program)('finds the card below /a2a/v1 and is answered', async () => {
    const { code, stdout, stderr } = await ask('/a2a/v1')
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout).answer).toContain('svc.utility.reader')
  })

  test.skipIf(!program)(`finds the card at the root: ${atRoot}`, async () => {
    const { code, stdout } = await ask('')
    expect(code === 0).toBe(atRoot)
    expect(stdout.includes('svc.utility.reader')).toBe(atRoot)
  })
})
