import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { command, temporaryFolder } from '../../support/command.ts'
import { startGateway } from '../../support/gateway.ts'
import { startModel } from '../../support/model.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'
import { allowed, instantLogin } from '../../support/sign-in.ts'

const claude = installed('claude-code-2.1.330/node_modules/.bin/claude')
const terminal = resolve(import.meta.dirname, '../../support/terminal.py')

test.skipIf(!claude)(
  'Claude Code, where .ci/run has installed it, signs in by its own flow, lists both ways as connected, and calls a tool',
  async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    await using folder = await temporaryFolder()
    const environment = {
      HOME: folder.path,
      TERM: 'xterm',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const at = { cwd: folder.path }
    async function use(...words: string[]): Promise<string> {
      await using child = run(claude ?? '', words, environment, { ...at, input: '' })
      const { code, stdout, stderr } = await child.ended
      expect(code, stdout + stderr).toBe(0)
      return stdout
    }
    await use('mcp', 'add', '--transport', 'http', 'dragoman', `${home.url}/mcp`)
    const settings = { DRAGOMAN_DATA: home.data, DRAGOMAN_LOG: 'silent', PORT: new URL(home.url).port }
    const pairs = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    await use('mcp', 'add', 'local', ...pairs, '--', process.execPath, command, 'mcp')

    await using child = run(
      'python3',
      [terminal, claude ?? '', 'mcp', 'login', '--no-browser', 'dragoman'],
      environment,
      at,
    )
    const [address] = await child.printed(/http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?[\w%=&.+~-]+/)
    const end = await allowed(new Browser(home.url), address)
    expect((await fetch(end)).status).toBe(200)
    const login = await child.ended
    expect(login.stdout).toContain('Authenticated')

    const servers = await use('mcp', 'list')
    expect(servers).toMatch(/dragoman: .*Connected/)
    expect(servers).toMatch(/local: .*Connected/)

    const tool = 'mcp__dragoman__call_agent'
    const params = { package_name: 'svc.registry', action: 'list_keys', params: {} }
    await using model = await startModel([{ tool, input: params }])
    await using session = run(
      claude ?? '',
      ['-p', 'List my keys.', '--allowedTools', tool],
      {
        ...environment,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        ENABLE_TOOL_SEARCH: 'false',
      },
      { ...at, input: '' },
    )
    const { code, stdout, stderr } = await session.ended
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('Done.')
    expect(model.results.join()).toMatch(/\\"keys\\*":/)
  },
)
