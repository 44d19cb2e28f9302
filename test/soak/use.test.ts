import { execFile } from 'node:child_process'
import { appendFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { startModel } from '../support/model.ts'
import { installed } from '../support/others.ts'
import { run } from '../support/processes.ts'
import { replay } from '../support/replay.ts'

const root = resolve(import.meta.dirname, '../..')
const claude = installed('claude-code-2.1.330/node_modules/.bin/claude')
const exec = promisify(execFile)

/** npm reaches its registry as this machine is set up for it. */
const npmEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(DRAGOMAN_|VITEST|NODE_ENV$)/.test(name)),
) as Record<string, string>

/** The tarball of the last commit. */
async function packed(folder: string): Promise<string> {
  const project = join(folder, 'project')
  await exec('git', ['clone', '-q', root, project])
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'))
  await appendFile(join(project, '.git/info/exclude'), 'node_modules\n')
  await exec('npm', ['pack', '--pack-destination', folder], { cwd: project })
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  return join(folder, tarball)
}

test.skipIf(!claude)(
  'from an empty folder to a first search and a first call by a model takes three commands',
  async () => {
    await using folder = await temporaryFolder()
    await using page = await replay({
      'GET /': {
        headers: { 'Content-Type': 'text/html' },
        body: '<html><head><title>Tides</title></head><body><p>High water is at noon.</p></body></html>',
      },
    })
    const tarball = await packed(folder.path)
    const [home, empty] = [join(folder.path, 'home'), join(folder.path, 'empty')]
    const data = join(home, '.local/share/dragoman')
    for (const path of [home, empty, data]) await mkdir(path, { recursive: true, mode: 0o700 })
    // The page of the test is on this machine, and not on the web.
    await writeFile(join(data, 'dragoman.json'), JSON.stringify({ DRAGOMAN_ALLOW_ORIGINS: [page.url] }), {
      mode: 0o600,
    })
    await using model = await startModel([
      { tool: 'mcp__dragoman__search_agents', input: { query: 'read a web page as Markdown', limit: 3 } },
      {
        tool: 'mcp__dragoman__call_agent',
        input: {
          package_name: 'svc.utility.reader',
          action: 'extract_content',
          params: { url: `${page.url}/` },
        },
      },
    ])
    const environment: Record<string, string> = {
      HOME: home,
      PATH: `${join(root, 'node_modules/node/bin')}:/usr/bin:/bin:${process.env.PATH}`,
      XDG_DATA_HOME: '',
      XDG_CONFIG_HOME: '',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'none',
      ENABLE_TOOL_SEARCH: 'false',
      MCP_TIMEOUT: '120000',
      // On a busy machine it asks the model before the server is connected, without its tools.
      MCP_CONNECTION_NONBLOCKING: 'false',
    }
    const seconds: number[] = []
    async function step(program: string, words: readonly string[], own = environment): Promise<string> {
      const started = performance.now()
      await using child = run(program, words, own, { cwd: empty, input: '' })
      const { code, stdout, stderr } = await child.ended
      seconds.push(Number(((performance.now() - started) / 1000).toFixed(1)))
      expect(code, stdout + stderr).toBe(0)
      return stdout
    }
    await step('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', tarball], npmEnvironment)
    await step('npx', ['dragoman', 'install', '--host', 'claude-code', '--yes'])
    const tools = 'mcp__dragoman__search_agents,mcp__dragoman__call_agent'
    const answer = await step(claude ?? '', ['-p', `Read ${page.url}`, '--allowedTools', tools])
    expect(answer).toContain('Done.')
    expect(model.results[0]).toContain('svc.utility.reader')
    expect(model.results[1]).toContain('High water is at noon.')
    console.info(`install, connect, search and call: ${seconds.join(' s, ')} s`)
  },
  300_000,
)
