import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'
import { allowed, instantLogin } from '../../support/sign-in.ts'

const python = installed('mcp-2.3.0/bin/python')
const script = `${import.meta.dirname}/mcp_sign_in.py`

test.skipIf(!python)(
  'the Python client, where .ci/run has installed it, signs in once and calls every tool',
  async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const browser = new Browser(home.url)
    await using client = run(python ?? '', [script, `${home.url}/mcp`], {})
    const { stdout, stdin } = client.process
    if (!stdout || !stdin) throw new Error('The client has no streams.')
    const results: Record<string, string> = {}
    const requests: URL[] = []
    for await (const line of createInterface({ input: stdout })) {
      const outcome = JSON.parse(line) as { open?: string; tool?: string; text?: string }
      if (outcome.tool !== undefined) results[outcome.tool] = outcome.text ?? ''
      if (outcome.open === undefined) continue
      requests.push(new URL(outcome.open))
      stdin.write(`${await allowed(browser, outcome.open)}\n`)
    }
    const { code, stderr } = await client.ended
    expect(code, stderr).toBe(0)
    expect(Object.keys(results).length).toBeGreaterThan(5)
    expect(Object.values(results).join()).not.toMatch(/unauthenticated|insufficient_scope/)
    expect(results.call_agent).toContain('keys')
    expect(requests.map((url) => url.searchParams.get('scope'))).toEqual(['agents:read a2a:call'])
  },
)
