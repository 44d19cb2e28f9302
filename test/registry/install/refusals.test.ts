// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts put values in the place of such texts
import { expect, test } from 'vitest'
import { hostOf, install, installed, packaged, refusalOf, remote } from '../../support/installed.ts'

const image = { registry_type: 'oci', identifier: 'example/weather' }
const bundle = {
  registry_type: 'mcpb',
  identifier: 'https://github.com/a/b.mcpb',
  file_sha256: 'a'.repeat(64),
}
const pypi = { registry_type: 'pypi', identifier: 'a' }
const runtime = (name: string, value?: string) => ({
  runtime_arguments: [{ type: 'named', name, ...(value !== undefined && { value }) }],
})
const argument = (value: string) => ({ package_arguments: [{ type: 'positional', value }] })
const variable = (value: string) => ({ environment_variables: [{ name: 'A', value }] })
const positional = (...values: string[]) => ({
  runtime_arguments: values.map((value) => ({ type: 'positional', value })),
})

test.each<[string, object, string]>([
  ['a command after the name', { identifier: 'weather; rm -rf ~' }, 'identifier'],
  ['backticks in the name', { identifier: 'weather`id`' }, 'identifier'],
  ['a line break in the name', { identifier: 'weather\nrm' }, 'identifier'],
  ['an option as the name', { identifier: '--registry=https://evil.example' }, 'identifier'],
  ['a path as the name', { identifier: '../../evil' }, 'identifier'],
  ['an address as the name', { identifier: 'https://evil.example/a.tgz' }, 'identifier'],
  ['an alias as the name', { identifier: 'weather@npm:evil' }, 'identifier'],
  [
    'a name of PyPI with an address',
    { registry_type: 'pypi', identifier: 'a @ https://evil.example' },
    'identifier',
  ],
  ['an image that begins like an option', { ...image, identifier: '-v/:/host' }, 'identifier'],
  ['an image with a space', { ...image, identifier: 'example/weather --privileged' }, 'identifier'],
  ['an archive as the name', { identifier: 'weather.tgz', version: undefined }, 'identifier'],
  ['an archive as the name of PyPI', { registry_type: 'pypi', identifier: 'weather.whl' }, 'identifier'],
  ['a version with a command', { version: '1.0.0; id' }, 'version'],
  ['a version that is an address', { version: 'https://evil.example' }, 'version'],
  ['a version that begins like an option', { version: '-1' }, 'version'],
  ['a foreign registry of npm', { registry_base_url: 'https://evil.example' }, 'registry_base_url'],
  [
    'a registry that looks like npm',
    { registry_base_url: 'https://registry.npmjs.org.evil.example' },
    'registry_base_url',
  ],
  [
    'a registry with a user name',
    { ...image, registry_base_url: 'https://ghcr.io@evil.example' },
    'registry_base_url',
  ],
  ['a foreign host of an image', { ...image, identifier: 'evil.example/weather' }, 'identifier'],
  ['an image on a local registry', { ...image, identifier: 'localhost:5000/weather' }, 'identifier'],
  ['a bundle elsewhere', { ...bundle, identifier: 'https://evil.example/b.mcpb' }, 'identifier'],
  ['a bundle without its hash', { ...bundle, file_sha256: undefined }, 'file_sha256'],
  ['a bundle over http', { ...bundle, identifier: 'http://github.com/b.mcpb' }, 'identifier'],
  ['a crate', { registry_type: 'cargo', identifier: 'weather' }, 'registry_type'],
  ['a kind that nobody knows', { registry_type: 'brew' }, 'registry_type'],
  ['code for Node', runtime('--eval', 'process.exit()'), 'runtime_arguments/0/name'],
  ['a module for Node', runtime('--require', '/tmp/x.js'), 'runtime_arguments/0/name'],
  ['another package', runtime('--package', 'evil'), 'runtime_arguments/0/name'],
  ['another registry', runtime('--registry', 'https://evil.example'), 'runtime_arguments/0/name'],
  ['another registry, in one word', positional('--registry=https://evil.example'), 'runtime_arguments/0'],
  ['the end of options', positional('--', 'evil'), 'runtime_arguments/0'],
  ['another package first', positional('evil'), 'runtime_arguments/0'],
  [
    'an index of PyPI',
    { ...pypi, ...runtime('--index-url', 'https://evil.example') },
    'runtime_arguments/0/name',
  ],
  ['a source of PyPI', { ...pypi, ...runtime('--from', 'evil') }, 'runtime_arguments/0/name'],
  ['all rights', { ...image, ...runtime('--privileged') }, 'runtime_arguments/0/name'],
  ['the folders of the machine', { ...image, ...runtime('-v', '/:/host') }, 'runtime_arguments/0'],
  [
    'the folders of the machine, in two words',
    { ...image, ...positional('-v', '/:/host') },
    'runtime_arguments/1',
  ],
  [
    'the folders of the machine, in one word',
    { ...image, ...positional('-v=/:/host') },
    'runtime_arguments/0',
  ],
  [
    'the socket of docker',
    { ...image, ...runtime('--mount', 'type=bind,source=/var/run/docker.sock,target=/x') },
    'runtime_arguments/0',
  ],
  [
    'a mount with more than the target',
    { ...image, ...runtime('--mount', 'type=bind,source={a},target=/x,source=/') },
    'runtime_arguments/0',
  ],
  ['the network of the machine', { ...image, ...runtime('--network', 'host') }, 'runtime_arguments/0'],
  ['the root user', { ...image, ...runtime('--user', '0:0') }, 'runtime_arguments/0'],
  ['a port for everybody', { ...image, ...runtime('-p', '0.0.0.0:80:80') }, 'runtime_arguments/0'],
  [
    'a program instead of the package',
    { ...image, ...runtime('--entrypoint', 'sh') },
    'runtime_arguments/0/name',
  ],
  [
    'an option of a container for the loader',
    { ...image, ...runtime('-e', 'LD_PRELOAD=/x.so') },
    'runtime_arguments/0',
  ],
  ['an option without its value', { ...image, ...runtime('-v') }, 'runtime_arguments/0/name'],
  ['the end of options among its own arguments', argument('--'), 'package_arguments'],
  ['a line break in an argument', argument('a\nb'), 'package_arguments/0/value'],
  ['an argument that shows in another order', argument('a\u202Eb'), 'package_arguments/0/value'],
  ['a variable of the user in an argument', argument('$HOME'), 'package_arguments/0/value'],
  [
    'a variable of a host in a value',
    variable('${env:AWS_SECRET_ACCESS_KEY}'),
    'environment_variables/0/value',
  ],
  ['a variable in two halves', variable('${a}'), 'environment_variables/0/value'],
  ['a command in a value', variable('$(id)'), 'environment_variables/0/value'],
  [
    'a variable that is no name',
    { environment_variables: [{ name: 'A=B;', is_required: true }] },
    'environment_variables/0/name',
  ],
  [
    'an address elsewhere of what runs here',
    { transport: { type: 'sse', url: 'https://evil.example/' } },
    'transport/url',
  ],
  ['a package that states no address', { transport: { type: 'sse' } }, 'transport/url'],
])('a package is refused for %s', (_, more, pointer) => {
  const refusal = refusalOf(packaged(more))
  expect(refusal?.pointer).toBe(`/packages/0/${pointer}`)
  expect(refusal?.detail).toMatch(/\.$/)
  expect(refusal?.hint).toMatch(/\.$/)
})

const harmfulVariables = `
  NODE_OPTIONS node_options LD_PRELOAD Ld_Library_Path CONTAINER_CONNECTION CONTAINERS_CONF LESSOPEN DYLD_INSERT_LIBRARIES PATH Path
  PYTHONPATH PYTHONSTARTUP BASH_ENV npm_config_registry PIP_INDEX_URL UV_INDEX DOCKER_HOST
  GIT_SSH_COMMAND JAVA_TOOL_OPTIONS PERL5OPT RUBYOPT HOME NODE_EXTRA_CA_CERTS DOTNET_STARTUP_HOOKS`

test.each(harmfulVariables.trim().split(/\s+/))('the variable %s is refused, stated or asked for', (name) => {
  for (const more of [{ value: 'x' }, { is_required: true }, {}]) {
    const refusal = refusalOf(
      packaged({
        environment_variables: [
          { name: 'FINE', value: '1' },
          { name, ...more },
        ],
      }),
    )
    expect(refusal?.pointer).toBe('/packages/0/environment_variables/1/name')
  }
})

test.each([
  'NODE_ENV',
  'GIT_BASE_DIR',
  'DOCKER_CONTAINER',
  'PYTHONUNBUFFERED',
  'GITHUB_TOKEN',
  'UVA',
  'PIPELINE',
  'AWS_SECRET_ACCESS_KEY',
])('the variable %s is taken', (name) => {
  expect(refusalOf(packaged({ environment_variables: [{ name, value: '1' }] }))).toBeUndefined()
})

test.each<[string, object, string]>([
  ['this machine', { url: 'http://127.0.0.1:8080/admin' }, 'url'],
  ['a name of this machine', { url: 'http://localhost/' }, 'url'],
  ['a private network', { url: 'https://10.0.0.1/mcp' }, 'url'],
  ['a private network in IPv6', { url: 'https://[fd00::1]/mcp' }, 'url'],
  ['the metadata of a cloud', { url: 'http://169.254.169.254/latest' }, 'url'],
  ['a name of a private network', { url: 'https://mcp.internal/' }, 'url'],
  [
    'a private network as the default of a variable',
    { url: 'http://{host}/mcp', variables: { host: { default: '169.254.169.254' } } },
    'url',
  ],
  ['a user name', { url: 'https://me:secret@weather.example.com/' }, 'url'],
  ['a socket', { url: 'wss://weather.example.com/' }, 'url'],
  ['a variable of the user', { url: 'https://weather.example.com/${HOME}' }, 'url'],
  ['a variable of the shell', { url: 'https://weather.example.com/$HOME' }, 'url'],
  [
    'a secret over http',
    { url: 'http://weather.example.com/', headers: [{ name: 'X-Key', is_required: true }] },
    'url',
  ],
  ['a header of the transport', { headers: [{ name: 'Host', value: 'x' }] }, 'headers/0/name'],
  ['a header that breaks the line', { headers: [{ name: 'X\r\nY', value: 'x' }] }, 'headers/0/name'],
  ['a value that breaks the line', { headers: [{ name: 'X', value: 'x\r\nY: z' }] }, 'headers/0/value'],
  [
    'a header with a variable of the user',
    { headers: [{ name: 'X', value: '${AWS_SECRET_ACCESS_KEY}' }] },
    'headers/0/value',
  ],
])('an address is refused for %s', (_, more, pointer) => {
  const { targets, refused } = attempt(remote(more))
  expect(targets).not.toContain('remote')
  expect(refused.find(({ target }) => target === 'remote')).toMatchObject({
    pointer: `/endpoints/0/${pointer}`,
    code: 'not_installable',
  })
})

function attempt(entry: ReturnType<typeof remote>) {
  // The gateway is a target of its own, so that the refusal is listed.
  const withGateway = {
    ...entry,
    endpoints: [...entry.endpoints, { protocol: 'a2a' as const, url: 'https://a.example.com/' }],
  }
  const { targets, refused } = install(withGateway)
  return { targets: targets.map(({ target }) => target), refused }
}

test('an entry of the largest size has an answer that every transport can send', () => {
  const packages = Array.from({ length: 20 }, () => ({
    registry_type: 'npm',
    identifier: 'a',
    environment_variables: Array.from({ length: 40 }, (_, index) => ({
      name: `KEY_${index}`,
      is_required: true,
      description: 'é'.repeat(60),
    })),
  }))
  const { targets, refused } = install(installed({ packages }))
  expect(Buffer.byteLength(JSON.stringify({ targets, refused }))).toBeLessThan(1024 * 1024)
  expect(targets.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({
    target: `package-${targets.length + 1}`,
    hint: expect.stringContaining('alone'),
  })
  const [large] = packages.slice(0, 1).map((stated) => ({
    ...stated,
    package_arguments: [
      { type: 'positional' as const, value: 'x'.repeat(4000) },
      { type: 'positional' as const, value: 'y'.repeat(4000) },
    ],
  }))
  expect(refusalOf(installed({ packages: large ? [large] : [] }))?.detail).toContain('too long')
})

test('an address that the operator allows is installed, and no other of its network', () => {
  const url = 'http://10.0.0.1:3000/mcp'
  const entry = remote({ url, headers: [{ name: 'X-Key', is_required: true }] })
  const kindsOf = (origin: string) => install(entry, [origin]).targets.map(({ kind }) => kind)
  expect([kindsOf('http://10.0.0.1:3000'), kindsOf('http://10.0.0.1')]).toEqual([
    ['remote', 'gateway'],
    ['gateway'],
  ])
})

test('a header cannot name a variable that the user has for something else', () => {
  const value = 'Bearer {AWS_SECRET_ACCESS_KEY}'
  const { text } = hostOf(remote({ headers: [{ name: 'Authorization', value }] }), 'claude-code')
  expect(text).toContain('Bearer ${MCP_WEATHER_491B5DB4243C6A71_AWS_SECRET_ACCESS_KEY}')
})

test('two values never share a variable, unless they are the same value', () => {
  const headers = ['X-A', 'X_A', 'X.A'].map((name) => ({ name, is_required: true }))
  const [target] = install(remote({ headers })).targets
  expect(target?.needs.map(({ variable }) => variable)).toEqual([
    'MCP_WEATHER_491B5DB4243C6A71_X_A',
    'MCP_WEATHER_491B5DB4243C6A71_X_A_2',
    'MCP_WEATHER_491B5DB4243C6A71_X_A_3',
  ])
  expect(new Set(target?.needs.map(({ id }) => id)).size).toBe(3)
})

test('agents whose servers have the same name share neither a variable nor a prompt', () => {
  const stated = remote({ headers: [{ name: 'X-Key', is_required: true }] })
  const names = ['com.good/rem', 'com.evil/rem', 'com.good-rem/rem', 'com.good.rem/rem']
  const needs = names.flatMap((package_name) => install({ ...stated, package_name }).targets[0]?.needs ?? [])
  expect(new Set(needs.map(({ variable }) => variable)).size).toBe(4)
  expect(new Set(needs.map(({ id }) => id)).size).toBe(4)
  const own = packaged({ environment_variables: [{ name: 'KEY', is_required: true, is_secret: true }] })
  const ids = names.map((package_name) => install({ ...own, package_name }).targets[0]?.needs[0]?.id)
  expect(new Set(ids).size).toBe(4)
})

test('a secret has no default and no example in a configuration', () => {
  const stated = { is_required: true, is_secret: true, default: 'hunter2', placeholder: 'hunter3' }
  const text = JSON.stringify(install(packaged({ environment_variables: [{ name: 'KEY', ...stated }] })))
  expect(text).not.toContain('hunter')
})

test('a package that must not be installed is listed beside what can be', () => {
  const { targets, refused } = install(
    installed({
      endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp' }],
      packages: [{ registry_type: 'npm', identifier: 'a', registry_base_url: 'https://evil.example' }],
    }),
  )
  expect(targets.map(({ target }) => target)).toEqual(['remote', 'gateway'])
  expect(refused).toEqual([
    {
      target: 'package',
      kind: 'package',
      title: 'Weather: npm a',
      code: 'not_installable',
      pointer: '/packages/0/registry_base_url',
      reason: '"https://evil.example" is not one of the public package registries, so no command is given.',
      hint: 'Install it by hand, if you trust that registry.',
    },
  ])
})

test.each<[string, string, string]>([
  ['-v', '{x}:/data', '/'],
  ['--mount', 'type=bind,src={x},dst=/data', '/var/run/docker.sock'],
  ['-p', '{x}:80', '0.0.0.0:80'],
  ['-u', '{x}', '0'],
])(
  'a container gets %s %s from its user alone, never by a default of the publisher',
  (name, value, usual) => {
    for (const more of [{ default: usual }, { choices: [usual] }]) {
      const argument = { type: 'named', name, value, variables: { x: { ...more, is_required: true } } }
      const found = install(packaged({ ...image, runtime_arguments: [argument] }))
      expect(found.targets[0]?.needs).toEqual([
        expect.not.objectContaining({ [Object.keys(more)[0] ?? '']: expect.anything() }),
      ])
      expect(JSON.stringify(found)).not.toContain(usual === '/' ? ':-/' : `"${usual}`)
      expect(hostOf(packaged({ ...image, runtime_arguments: [argument] }), 'cursor').text).toContain('${env:')
    }
  },
)

test('a default that ends the options of a command is no default', () => {
  const entry = packaged({ package_arguments: [{ type: 'positional', is_required: true, default: '--' }] })
  expect(install(entry).targets[0]?.needs[0]?.default).toBeUndefined()
})

test('the default of a variable of a container is not that of a folder with the same name', () => {
  const named = (name: string, value: string) => ({
    type: 'named',
    name,
    value,
    variables: { x: { default: '/', is_required: true } },
  })
  const entry = packaged({ ...image, runtime_arguments: [named('-e', 'ROOT={x}'), named('-v', '{x}:/data')] })
  expect(hostOf(entry, 'claude-code').config).toMatchObject({
    mcpServers: { weather: { args: expect.arrayContaining(['${MCP_WEATHER_491B5DB4243C6A71_X_2}:/data']) } },
  })
})
