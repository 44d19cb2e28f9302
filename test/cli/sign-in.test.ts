import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { changeSignedIn, readSignedIn, signedInPath } from '../../src/app/signed-in.ts'
import { awaitDecision, findIssuer, refresh, requestDevice } from '../../src/cli/sign-in/device.ts'
import { Browser } from '../support/browser.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { decide } from '../support/device.ts'
import { startGateway } from '../support/gateway.ts'
import { run as start } from '../support/processes.ts'
import { serve } from '../support/serve.ts'
import { instantLogin } from '../support/sign-in.ts'

const home = await startGateway({}, { logins: [instantLogin()] })
afterAll(() => home[Symbol.asyncDispose]())

const atOnce = async () => {}

describe('a sign-in on the command line', () => {
  test('makes later commands callers of that gateway, until the sign-out', async () => {
    await using folder = await temporaryFolder()
    const environment = { HOME: folder.path, XDG_CONFIG_HOME: join(folder.path, 'config') }
    await using login = start(process.execPath, [command, 'login', `${home.url}/`], environment)
    const [, code] = await login.printed(/Open (?:\S+) and enter the code (\S+)/)
    const { verification_uri } = await requestDevice(await findIssuer(home.url))
    await decide(home, `${verification_uri}?user_code=${code}`, 'allow')
    const ended = await login.ended
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining(`Commands now talk to ${home.url}`),
    ])
    const path = join(folder.path, 'config/dragoman/credentials.json')
    expect((await stat(path)).mode & 0o777).toBe(0o600)

    const who = await run(['whoami', '--json'], environment)
    expect(JSON.parse(who.stdout)).toMatchObject({
      acts_as: 'ada',
      gateway: home.url,
      issuer: 'https://login.example',
      scopes: expect.arrayContaining(['agents:publish', 'a2a:call']),
      namespaces: ['com.ada'],
    })
    const file = join(folder.path, 'agent.json')
    await writeFile(
      file,
      JSON.stringify({
        package_name: 'com.ada.cli',
        name: 'A',
        description: 'Is an agent.',
        endpoints: [{ protocol: 'mcp', url: 'https://ada.example/mcp' }],
      }),
    )
    expect((await run(['publish', file], environment)).code).toBe(0)
    const entry = await home.gateway.store.read.entry({ package_name: 'com.ada.cli' })
    expect(entry?.owner).toMatchObject({ issuer: 'https://login.example', subject: 'ada' })

    const { gateways } = readSignedIn(path)
    const { access_token } = gateways[home.url] ?? {}
    expect((await run(['logout'], environment)).stderr).toContain(`Signed out at ${home.url}.`)
    expect(await readFile(path, 'utf8')).not.toContain(String(access_token))
    const after = await home.request('POST', '/a2a/message', {
      token: String(access_token),
      body: { to: 'svc.registry', action: 'get_usage', params: {} },
    })
    expect(after.status).toBe(401)
  }, 40_000)

  test('ends if the user refuses', async () => {
    const issuer = await findIssuer(home.url)
    const device = await requestDevice(issuer)
    const decision = awaitDecision(issuer, device, atOnce)
    const refused = expect(decision).rejects.toMatchObject({ code: 'forbidden' })
    await decide(home, String(device.verification_uri_complete), 'deny')
    await refused
  })

  test('is renewed once by commands that run at the same time', async () => {
    await using folder = await temporaryFolder()
    const issuer = await findIssuer(home.url)
    const device = await requestDevice(issuer)
    await decide(home, String(device.verification_uri_complete), 'allow')
    const session = await awaitDecision(issuer, device, atOnce)
    const environment = { HOME: folder.path, XDG_CONFIG_HOME: join(folder.path, 'config') }
    const path = signedInPath({ config: environment.XDG_CONFIG_HOME })
    const gateways = { [home.url]: { ...session, expires_at: Date.now() } }
    await changeSignedIn(path, async () => [{ current: home.url, gateways }, undefined])
    const commands = [1, 2, 3].map(() => start(process.execPath, [command, 'whoami'], environment).ended)
    for (const { code, stdout } of await Promise.all(commands))
      expect([code, stdout]).toEqual([0, expect.stringContaining('acts_as: ada')])
    const { refresh_token } = readSignedIn(path).gateways[home.url] ?? {}
    expect(refresh_token).not.toBe(session.refresh_token)
  }, 30_000)

  test('that has ended says how to begin again', async () => {
    const issuer = await findIssuer(home.url)
    const device = await requestDevice(issuer)
    await decide(home, String(device.verification_uri_complete), 'allow')
    const session = await awaitDecision(issuer, device, atOnce)
    await refresh(session)
    await expect(refresh(session)).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { hint: expect.stringContaining('dragoman login') },
    })
  })

  test.each([
    ['not a gateway', 'invalid_request'],
    ['https://user@registry.example', 'invalid_request'],
  ])('is refused at %s', async (address, code) => {
    await using folder = await temporaryFolder()
    const { stderr } = await run(['login', address, '--json'], { HOME: folder.path })
    expect(JSON.parse(stderr).code).toBe(code)
  })

  test('does not reach the data folder that the environment names', async () => {
    await using folder = await temporaryFolder()
    const config = join(folder.path, 'config')
    const session = { issuer: home.url, resource: '', access_token: 'x', expires_at: 0 }
    await changeSignedIn(signedInPath({ config }), async () => [
      { current: home.url, gateways: { [home.url]: session } },
      undefined,
    ])
    const environment = {
      HOME: folder.path,
      XDG_CONFIG_HOME: config,
      DRAGOMAN_DATA: join(folder.path, 'data'),
    }
    expect((await run(['whoami'], environment)).stdout).toContain('the operator of the data folder')
  })

  test.each(['{', '{"current": 1}'])('is asked for again where its file is damaged: %s', async (text) => {
    await using folder = await temporaryFolder()
    const path = signedInPath({ config: folder.path })
    await changeSignedIn(path, async () => [{ current: null, gateways: {} }, undefined])
    await writeFile(path, text)
    const { code, stderr } = await run(['whoami'], { HOME: folder.path, XDG_CONFIG_HOME: folder.path })
    expect([code, stderr]).toEqual([2, expect.stringContaining('dragoman login')])
  })
})

describe('the link of a login on this machine', () => {
  test('is printed only on a terminal', async () => {
    const { code, stdout, stderr } = await run(['login'], { DRAGOMAN_DATA: home.data })
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('only on a terminal')])
  })

  test('signs one browser in, once, as the person at this machine', async () => {
    await using folder = await temporaryFolder()
    await using served = await serve(folder.path)
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    const { stdout } = await run(['login'], { DRAGOMAN_DATA: folder.path }).finally(() => {
      process.stdout.isTTY = isTTY
    })
    const link = stdout.trim()
    expect(link).toMatch(`${served.url}/sign-in/link?code=`)
    const browser = new Browser(served.url)
    const account = await browser.submit(await browser.open(link))
    expect(account.text).toContain('You, on this machine')
    const other = new Browser(served.url)
    expect((await other.submit(await other.open(link))).status).toBe(401)
  }, 20_000)

  test('needs a gateway that runs here', async () => {
    await using folder = await temporaryFolder()
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    const { stderr } = await run(['login'], { DRAGOMAN_DATA: folder.path }).finally(() => {
      process.stdout.isTTY = isTTY
    })
    expect(stderr).toContain('Start it with dragoman serve.')
  })
})
