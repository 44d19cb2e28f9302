import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { blocks, shell } from '../support/documents.ts'

interface VitestReport {
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const root = resolve(import.meta.dirname, '../..')
const guides = ['docs/adding-an-agent.md', 'docs/adding-a-field.md', 'docs/adding-a-transport.md']

/** A copy of this project in which every guide has been followed to the letter. */
describe('a project to which the guides have added an agent, a field and a transport', () => {
  let project: Awaited<ReturnType<typeof copyOfProject>>
  const touched = new Set<string>()

  beforeAll(async () => {
    project = await copyOfProject()
    for (const guide of guides) {
      for (const { info, code } of blocks(await readFile(join(root, guide), 'utf8'))) {
        if (info.startsWith('ts ')) touched.add(await applyBlock(project.path, info, code))
        if (info === 'md docs/reference/http.md') await addRequest(project.path, code)
      }
    }
  }, 60_000)
  afterAll(() => project[Symbol.asyncDispose]())

  test('compiles, and keeps the rules of the linter', async () => {
    await shell(`cd ${project.path}; npx tsc -p tsconfig.build.json --noEmit --allowImportingTsExtensions`)
    await shell(`cd ${project.path}; npx biome check ${[...touched].join(' ')}`)
  }, 120_000)

  test('has the agent at every transport, and shows, filters and counts the field', async () => {
    const polyglot = {
      package_name: 'com.example.polyglot',
      name: 'Polyglot',
      description: 'Answers in Finnish.',
      language: 'FI',
      endpoints: [{ protocol: 'a2a', url: 'https://example.com/a2a' }],
    }
    await writeFile(join(project.path, 'agent.json'), JSON.stringify(polyglot))
    const [rolled, found, card, published, finnish, swedish] = await project.dragoman(
      ['call', 'svc.utility.dice', 'roll', '{"sides":2}'],
      ['search', 'rolls', 'dice', '--json'],
      ['resolve', 'svc.utility.dice'],
      ['publish', 'agent.json', '--live', '--json'],
      ['search', 'answers', '--language', 'fi', '--json'],
      ['search', 'answers', '--language', 'sv', '--json'],
    )
    expect([1, 2]).toContain(rolled.rolled)
    expect(found.agents[0]).toMatchObject({ package_name: 'svc.utility.dice', category: 'utilities' })
    expect(card.capabilities[0].input_schema.properties.sides.default).toBe(6)
    expect(published).toMatchObject({ language: 'fi' })
    expect(finnish.agents).toMatchObject([{ package_name: 'com.example.polyglot' }])
    expect(swedish.agents).toEqual([])
  }, 60_000)

  test('serves the transport with the gateway, and says that a line is not JSON', async () => {
    const envelope = { to: 'svc.registry', action: 'search', params: { query: 'wiki' }, message_id: 'm-1' }
    const lines = `${JSON.stringify(envelope)}\n{"to": 1}\nnot json\n`
    const answers = await project.script(`
      import { connect, createServer } from 'node:net'
      import { createInterface } from 'node:readline'
      import { readConfig } from './src/app/config.ts'
      import { openGateway } from './src/app/gateway.ts'
      import { startServer } from './src/app/server.ts'
      import { listen } from './src/transports/shared/listen.ts'
      const probe = createServer()
      const port = await listen(probe, { host: '127.0.0.1', port: 0, hint: '' })
      probe.close()
      const settings = { DRAGOMAN_DATA: 'served', PORT: '0', DRAGOMAN_LINES_PORT: String(port) }
      await using gateway = await openGateway(readConfig(settings))
      const server = await startServer(gateway, { drain_ms: 0 })
      const socket = connect(port)
      socket.write(${JSON.stringify(lines)})
      let count = 0
      for await (const line of createInterface({ input: socket })) {
        process.stdout.write(line + '\\0')
        if (++count === 3) break
      }
      await server[Symbol.asyncDispose]()
      await startServer(gateway, { drain_ms: 0 }).then((again) => again[Symbol.asyncDispose]())
      await listen(probe, { host: '127.0.0.1', port, hint: '' })
      const busy = await startServer(gateway).catch(({ code, message }) => ({ code, message }))
      process.stdout.write(JSON.stringify(busy) + '\\0')
      probe.close()`)
    expect(answers).toHaveLength(4)
    expect(answers).toContainEqual({
      echo: { message_id: 'm-1' },
      output: expect.objectContaining({ total: expect.any(Number) }),
    })
    expect(answers).toContainEqual({
      echo: {},
      error: expect.objectContaining({
        code: 'invalid_request',
        errors: expect.arrayContaining([expect.objectContaining({ pointer: '/to' })]),
      }),
    })
    expect(answers).toContainEqual({
      echo: {},
      error: expect.objectContaining({
        code: 'invalid_request',
        detail: 'The message is not JSON.',
      }),
    })
    expect(answers.at(-1)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('another process listens there'),
    })
  }, 60_000)

  test('passes the tests that each transport, path, tool and example passes', async () => {
    const path = join(project.path, 'test/transports/transports.test.ts')
    const table = await readFile(path, 'utf8')
    // A process for each caller of MCP over stdio would take seconds.
    await writeFile(path, table.replace('openTransports(home, stdioProcess)', 'openTransports(home)'))
    const names = ['transports', 'interface', 'mcp-oauth', 'openapi-examples', 'catalog/ard']
    const files = names.map((name) => `test/transports/${name}.test.ts`).join(' ')
    await shell(
      `cd ${project.path}; npx vitest run --reporter=json --outputFile=report.json ${files} || true`,
    )
    const report = await readFile(join(project.path, 'report.json'), 'utf8')
    const { numTotalTests, numPassedTests, testResults } = JSON.parse(report) as VitestReport
    const failed = testResults.flatMap(({ message, assertionResults }) => [
      ...(message === '' ? [] : [message]),
      ...assertionResults.flatMap(({ fullName, failureMessages }) =>
        failureMessages.map((text) => `${fullName}: ${text}`),
      ),
    ])
    expect(failed).toEqual([])
    expect(numPassedTests).toBe(numTotalTests)
  }, 120_000)
})

/** The parts of this project that its commands and tests need, in a folder where a guide may change them. */
async function copyOfProject() {
  const folder = await temporaryFolder()
  const folders = ['agents', 'bin', 'schemas', 'src', 'test']
  const files = [
    'README.md',
    'docs/reference/http.md',
    'docs/troubleshooting.md',
    'package.json',
    'biome.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'vitest.config.ts',
    '.gitignore',
  ]
  for (const part of [...folders, ...files]) {
    await cp(join(root, part), join(folder.path, part), { recursive: true })
  }
  for (const part of ['node_modules', 'models', 'assets'])
    await symlink(join(root, part), join(folder.path, part))

  /** The JSON texts that a script prints, each with a NUL after it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async function script(text: string): Promise<any[]> {
    const printed = await shell(
      `cd ${folder.path}; DRAGOMAN_DATA=data ${process.execPath} --input-type=module <<'END'\n${text}\nEND`,
    )
    return printed
      .split('\0')
      .slice(0, -1)
      .map((json) => JSON.parse(json))
  }
  return {
    path: folder.path,
    script,
    /** What some command lines print, one after the other in one process: loading the modules is what takes long. */
    dragoman: (...lines: string[][]) =>
      script(`
        import { main } from './src/cli/main.ts'
        for (const args of ${JSON.stringify(lines)}) {
          await main(args)
          process.stdout.write('\\0')
        }`),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

/** Writes a block `ts PATH` as a file, or inserts a block `ts PATH before "ANCHOR"` into one. Resolves to the path. */
async function applyBlock(folder: string, info: string, code: string): Promise<string> {
  const [, name = '', anchor] = /^ts (\S+)(?: before "(.+)")?$/.exec(info) ?? []
  const path = join(folder, name)
  if (anchor === undefined) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, code)
    return name
  }
  const text = await readFile(path, 'utf8')
  expect(text.split(anchor), `${anchor} in ${name}`).toHaveLength(2)
  await writeFile(
    path,
    text.replace(anchor, () => `${code}${anchor}`),
  )
  return name
}

/** Adds a row to the table of paths. */
async function addRequest(folder: string, row: string): Promise<void> {
  const path = join(folder, 'docs/reference/http.md')
  const text = await readFile(path, 'utf8')
  const anchor = '| `POST /rpc`'
  expect(text).toContain(anchor)
  await writeFile(path, text.replace(anchor, `${row}${anchor}`))
}
