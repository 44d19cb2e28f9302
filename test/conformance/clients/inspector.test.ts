import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../../support/command.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const inspector = installed('inspector-2.12.0/node_modules/.bin/mcp-inspector')

let home: TestGateway
beforeAll(async () => {
  home = await startGateway()
})
afterAll(() => home[Symbol.asyncDispose]())

/** Runs the MCP inspector's command line against a transport, and answers with its code and the JSON it printed. */
async function inspect(context: string, ...words: string[]) {
  const target =
    context === 'HTTP' ? [`${home.url}/mcp`, '--transport', 'http'] : [process.execPath, command, 'mcp']
  const environment = {
    HOME: home.data,
    ...(context === 'stdio' && {
      DRAGOMAN_DATA: home.data,
      DRAGOMAN_LOG: 'silent',
      DRAGOMAN_BASE_URL: '',
      PORT: new URL(home.url).port,
    }),
  }
  const before = context === 'stdio' ? words : []
  const after = context === 'stdio' ? [] : words
  const args = [inspector ?? '', '--cli', ...before, ...target, ...after]
  await using running = run(process.execPath, args, environment)
  const { code, stdout, stderr } = await running.ended
  return { code, stdout, stderr }
}

describe.skipIf(!inspector).each([
  ['HTTP', 'legacy'],
  ['HTTP', 'modern'],
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
])('the MCP inspector, where .ci/run has installed it, over %s, %s era', (context, era) => {
  const ask = (...words: string[]) => inspect(context, '--protocol-era', era, ...words)

  test('lists the tools, and finds their schemas portable', async () => {
    const { code, stdout, stderr } = await ask('--strict', '--format', 'json', '--method', 'tools/list')
    expect(code, stderr + stdout).toBe(0)
    for (const name of ['search_agents', 'resolve_package', 'call_agent'])
      expect(stdout).toContain(`"${name}"`)
  })

  test('calls a tool', async () => {
    // Arguments of the tool end with the next option, not with the command of the server.
    const call = [
      '--method',
      'tools/call',
      '--tool-name',
      'search_agents',
      '--tool-arg',
      'query=encyclopedia',
    ]
    const { code, stdout, stderr } = await ask(...call, '--format', 'json')
    expect(code, stderr + stdout).toBe(0)
    expect(stdout).toContain('svc.utility.wiki')
  })

  test('is told that there is no such tool', async () => {
    const { code } = await ask('--method', 'tools/call', '--tool-name', 'nothing')
    expect(code).toBe(5)
  })
})
