import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import {
  type OfficialRegistry,
  type ServerJson,
  startRegistryReplay,
} from '../../support/official-registry.ts'
import { operate, runToEnd } from './mirror-run.ts'

const repository = { url: 'https://github.com/Example/weather.git', source: 'github' }
const remotes = [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }]
const packages = [{ registryType: 'npm', identifier: '@example/weather', transport: { type: 'stdio' } }]
const server = (name: string, more: object = {}): ServerJson =>
  ({ name, description: 'Forecasts rain and sunshine.', version: '1.0.0', ...more }) as ServerJson

async function mirrored(
  sources: Readonly<Record<string, readonly ServerJson[]>>,
  work: (subject: TestGateway) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const registries: [string, OfficialRegistry][] = []
  for (const [name, documents] of Object.entries(sources)) {
    registries.push([name, stack.use(await startRegistryReplay(documents))])
  }
  const origins = registries.map(([, { url }]) => url).join(',')
  const subject = stack.use(await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins }))
  for (const [name, { url }] of registries) {
    await operate(subject.gateway, 'add_mirror', { source: `${url}/v0.1`, name })
    await runToEnd(subject.gateway, name)
  }
  await work(subject)
}

async function search(subject: TestGateway, body: object = {}) {
  const { json } = await subject.request('POST', '/api/agents/search', {
    body: { query: 'forecasts of rain', ...body },
  })
  const agents = json.agents.filter(
    ({ package_name }: { package_name: string }) => !package_name.startsWith('svc.'),
  )
  return {
    total: json.total,
    agents,
    names: agents.map((agent: { package_name: string }) => agent.package_name),
  }
}

test('entries of two sources that share a repository are one hit, the one that can be called', async () => {
  await mirrored(
    {
      first: [server('com.example/package', { repository, packages })],
      second: [
        server('org.catalog/weather', {
          repository: { ...repository, url: 'https://github.com/example/weather/' },
          remotes,
        }),
      ],
    },
    async (subject) => {
      const { names, agents, total } = await search(subject)
      expect(names).toEqual(['org.catalog/weather'])
      expect(total).toBe(1)
      expect(agents[0].alternatives).toEqual([
        { package_name: 'com.example/package', callable: 'package', source: 'first' },
      ])
      const brief = await search(subject, { detail: 'brief' })
      expect(brief.agents[0].alternatives).toEqual(['com.example/package'])
      const installable = await search(subject, { filters: { callable: ['package'] } })
      expect(installable.names).toEqual(['com.example/package'])
      expect(installable.agents[0].alternatives).toBeUndefined()
      const listed = await subject.request('GET', '/public/agents?limit=100')
      expect(listed.json.agents.map((agent: { package_name: string }) => agent.package_name)).toEqual(
        expect.arrayContaining(['com.example/package', 'org.catalog/weather']),
      )
    },
  )
})

test.each<[string, object, object]>([
  ['an address', { remotes }, { remotes: [{ type: 'sse', url: 'https://weather.example.com/mcp/' }] }],
  ['a package', { packages }, { packages: [{ ...packages[0], version: '2.0.0' }] }],
  [
    'a project of GitLab',
    { repository: { url: 'https://gitlab.com/example/tools/rain.git' } },
    { repository: { url: 'https://gitlab.com/Example/tools/rain/-/tree/main' } },
  ],
  [
    'a folder of a repository',
    { repository: { ...repository, subfolder: 'src/rain' } },
    { repository: { url: 'https://github.com/example/weather', subfolder: 'src/rain' } },
  ],
])('entries of two sources that share %s are one hit', async (_, left, right) => {
  await mirrored(
    { first: [server('com.example/a', left)], second: [server('org.catalog/b', right)] },
    async (subject) => expect((await search(subject)).names).toHaveLength(1),
  )
})

test.each<[string, readonly ServerJson[], readonly ServerJson[]]>([
  ['of one source', [server('com.example/a', { repository }), server('com.example/b', { repository })], []],
  [
    'that share a repository with several agents of a source',
    [server('com.example/a', { repository })],
    [server('org.catalog/b', { repository }), server('org.catalog/c', { repository })],
  ],
  [
    'of other folders',
    [server('com.example/a', { repository: { ...repository, subfolder: 'a' } })],
    [server('org.catalog/b', { repository: { ...repository, subfolder: 'b' } })],
  ],
  [
    'of other projects in a group of GitLab',
    [server('com.example/a', { repository: { url: 'https://gitlab.com/example/tools/a' } })],
    [server('org.catalog/b', { repository: { url: 'https://gitlab.com/example/tools/b' } })],
  ],
  ...['http://localhost:3000/mcp', 'http://192.168.1.5/mcp', 'http://[::1]:8080/', 'http://mcp:80/mcp'].map(
    (url): [string, readonly ServerJson[], readonly ServerJson[]] => [
      `at ${url} of their own`,
      [server('com.example/a', { remotes: [{ type: 'sse', url }] })],
      [server('org.catalog/b', { remotes: [{ type: 'sse', url }] })],
    ],
  ),
  ['with nothing in common', [server('com.example/a', { packages })], [server('org.catalog/b', { remotes })]],
])('entries %s stay apart', async (_, first, second) => {
  await mirrored({ first, second }, async (subject) => {
    expect((await search(subject)).names).toHaveLength(first.length + second.length)
  })
})

test('an entry that has an owner is never merged', async () => {
  await mirrored(
    {
      first: [server('com.example/a', { repository, remotes })],
      second: [server('org.catalog/b', { repository })],
    },
    async (subject) => {
      expect((await search(subject)).names).toEqual(['com.example/a'])
      const token = await subject.token('ada', { namespaces: ['org.catalog'] })
      await subject.request('POST', '/api/agents/org.catalog%2Fb/claim', { token, body: {} })
      expect((await search(subject)).names.sort()).toEqual(['com.example/a', 'org.catalog/b'])
    },
  )
})

test('pages of grouped hits hold each agent once, and groups survive a restart', async () => {
  const ofBoth = (domain: string) =>
    Array.from({ length: 9 }, (_, index) =>
      server(`${domain}/weather-${index}`, {
        repository: { url: `https://github.com/example/weather-${index}` },
      }),
    )
  await mirrored({ first: ofBoth('com.example'), second: ofBoth('org.catalog') }, async (subject) => {
    const { total, names } = await search(subject, { limit: 100 })
    expect([total, names.length]).toEqual([9, 9])
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const body = { query: 'forecasts of rain', limit: 2, ...(cursor && { cursor }) }
      const { json } = await subject.request('POST', '/api/agents/search', { body })
      paged.push(...json.agents.map((agent: { package_name: string }) => agent.package_name))
      cursor = json.next_cursor ?? undefined
    } while (cursor)
    expect(paged.filter((name) => !name.startsWith('svc.'))).toEqual(names)
  })
})
