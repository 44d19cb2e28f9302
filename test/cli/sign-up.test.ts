import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, temporaryFolder } from '../support/command.ts'
import { signInCommandLine } from '../support/device.ts'
import { serveDns } from '../support/dns.ts'
import { startGateway } from '../support/gateway.ts'
import { instantLogin } from '../support/sign-in.ts'

test('a publisher without a shell on the server signs in, proves a domain and goes live by command line alone', async () => {
  await using dns = await serveDns()
  await using home = await startGateway(
    { DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_NAMES: 'proof' },
    { logins: [instantLogin({ namespaces: [] })] },
  )
  await using folder = await temporaryFolder()
  const config = join(folder.path, 'config')
  const dragoman = (...args: string[]) =>
    run([...args, '--json'], { HOME: folder.path, XDG_CONFIG_HOME: config })
  await signInCommandLine(home, config)

  const file = join(folder.path, 'agent.json')
  const [name, endpoint] = ['com.ada-weather.forecast', 'https://ada-weather.com/mcp']
  const described = ['--name', 'Forecast', '--description', 'Forecasts for any town.']
  const created = await dragoman('init', file, '--package-name', name, ...described, '--endpoint', endpoint)
  expect(created.code).toBe(0)
  expect((await dragoman('validate', file)).code).toBe(0)
  // It is published all the same, and the refusal to take it live says so.
  const both = await dragoman('publish', file, '--live')
  expect([both.code, JSON.parse(both.stderr)]).toMatchObject([
    3,
    {
      code: 'forbidden',
      hint: expect.stringMatching(/dragoman.* verify .* is published, in STAGE\. .* go-live /),
    },
  ])
  expect((await dragoman('publish', file)).code).toBe(1)

  const early = await dragoman('go-live', name)
  expect([early.code, JSON.parse(early.stderr).code]).toEqual([3, 'forbidden'])
  const first = await dragoman('verify', name)
  const { challenges } = JSON.parse(first.stdout)
  const { record } = challenges.dns
  dns.txt(record.name, record.value)
  const second = await dragoman('verify', name)
  expect(JSON.parse(second.stdout)).toMatchObject({ verification_level: 'domain_verified' })
  const proved = await run(['verify', name], { HOME: folder.path, XDG_CONFIG_HOME: config })
  expect(proved.stdout).toMatch(/ domain_verified\n {2}dns: [^\n]+\n$/)
  const live = await dragoman('go-live', name)
  expect([live.code, JSON.parse(live.stdout).state]).toEqual([0, 'ACTIVE'])
  const { json } = await home.request('GET', `/public/agents/${name}`)
  expect(json).toMatchObject({ state: 'ACTIVE', verification_level: 'domain_verified' })
}, 30_000)
