import { startUpstreamServer, type UpstreamServer } from './authorization-server.ts'
import { Browser, type Visited } from './browser.ts'
import { type Answer, startGateway, type TestGateway } from './gateway.ts'
import { type GuardedServer, startGuardedServer } from './guarded-servers.ts'
import { list } from './listed.ts'

export const mailAgent = 'com.example.mail'

/** How the agent answers who has signed in, and who has not. */
export const answered = { status: 200, json: { data: { subject: 'ada-upstream' } } }
export const signInRequired = { status: 409, json: { code: 'sign_in_required' } }

/** A gateway, an MCP server that is listed as `com.example.mail`, and the authorization server of that server. */
interface SignInHome extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly server: GuardedServer
  readonly upstream: UpstreamServer
  /** Calls a tool by the envelope, as a subject. */
  call(who: string, action?: string, params?: object): Promise<Answer>
  /** Continues a call that waits, by the envelope. */
  resume(who: string, task_id: string, input?: object): Promise<Answer>
  /** Opens the address in a new browser, goes through the authorization server, and returns the last page. */
  signIn(sign_in_url: string, browser?: Browser): Promise<Visited>
  /** Like `signIn`, up to the answer of the authorization server, which is not opened. */
  consent(sign_in_url: string, browser: Browser): Promise<string>
  /** A subject who has signed in. */
  signedIn(who: string): Promise<void>
}

export async function startSignInHome(
  environment: Readonly<Record<string, string>> = {},
  options: Parameters<typeof startGateway>[1] = {},
  settings: Readonly<Record<string, unknown>> = {},
): Promise<SignInHome> {
  const upstream = await startUpstreamServer(settings)
  const server = await startGuardedServer(upstream.issuer)
  const gateway = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: `${upstream.issuer},${server.origin}`, ...environment },
    options,
  )
  await list(gateway, { package_name: mailAgent, endpoints: [{ protocol: 'mcp', url: server.url }] })

  async function send(who: string, action: string, params: object): Promise<Answer> {
    const token = await gateway.token(who)
    return await gateway.request('POST', '/a2a/message', { body: { to: mailAgent, action, params }, token })
  }

  async function consent(sign_in_url: string, browser: Browser): Promise<string> {
    const left = await browser.submit(await browser.open(sign_in_url))
    const link = left.links.find((address) => address !== '/')
    if (!left.headers.has('refresh') || link === undefined) throw new Error(`No way on: ${left.text}`)
    return (await new Browser(upstream.issuer).open(link)).url
  }

  async function signIn(sign_in_url: string, browser = new Browser(gateway.url)): Promise<Visited> {
    return await browser.open(await consent(sign_in_url, browser))
  }

  return {
    gateway,
    server,
    upstream,
    call: (who, action = 'whoami', params = {}) => send(who, action, params),
    resume: (who, task_id, input = {}) => send(who, 'continue_task', { task_id, input }),
    consent,
    signIn,
    async signedIn(who) {
      const page = await signIn((await send(who, 'whoami', {})).json.sign_in_url)
      if (!page.text.includes('is connected')) throw new Error(page.text)
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}
