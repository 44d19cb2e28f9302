import type { ResourcePath, Scope } from '../../../schemas/scope.ts'
import type { ConsentRequest, WaitingClient } from '../../auth/authorization-server/authorization-server.ts'
import type { Page, ProtocolPages } from '../../auth/authorization-server/pages.ts'
import type { Login, Person } from '../../auth/logins/login.ts'
import type { ConnectView } from '../../auth/upstream-sign-in/sign-ins.ts'
import { type Html, html } from '../page/html.ts'
import { page } from '../page/sign-in-page.ts'

const scopeWords: Readonly<Record<Scope, string>> = {
  'agents:read': 'Search agents, and read what concerns your own agents.',
  'agents:write': 'Publish, change and delete your agents.',
  'agents:publish': 'Take your agents live and offline, verify them, and transfer them to others.',
  'a2a:call': 'Call agents in your name, with the credentials that you stored for them.',
  playground: 'Use playground sessions.',
  admin: 'Do everything, with the agents of everybody.',
}

const resourceWords: Readonly<Record<ResourcePath, string>> = {
  '': 'the REST and JSON-RPC interface',
  '/mcp': 'MCP',
  '/a2a': 'messages to agents (A2A and envelopes)',
}

/** The pages that oidc-provider answers with. */
export const protocolPages: ProtocolPages = {
  deviceCode: ({ action, xsrf, code = '', notice }) =>
    page({
      title: 'Sign in a device',
      body: html`
${notice !== undefined && html`<p class="notice" role="alert">${notice}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${xsrf}">
<p><label for="code">Code that the device or the command line shows</label></p>
<input id="code" type="text" name="user_code" value="${code}" required autocomplete="off" autocapitalize="characters" spellcheck="false">
<p class="actions"><button class="main">Continue</button></p>
</form>`,
    }),
  deviceConfirm: ({ action, xsrf, code, client }) =>
    page({
      title: 'Is this your device?',
      body: html`
<p><strong>${client}</strong> asks to be signed in. It must show this code:</p>
<p><code>${code}</code></p>
<p>If somebody sent you the code, refuse: they would act in your name.</p>
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${xsrf}">
<input type="hidden" name="user_code" value="${code}">
<input type="hidden" name="confirm" value="yes">
<p class="actions"><button class="main">It shows this code</button><button name="abort" value="yes">Refuse</button></p>
</form>`,
    }),
  deviceDone: (client) =>
    page({
      title: 'Signed in',
      body: html`<p><strong>${client}</strong> is signed in. You can close this page.</p>`,
    }),
  error: (message, link) =>
    page({
      title: 'This did not work',
      body: html`<p>${message}</p>
<p>${link === undefined ? html`<a href="/">To the start page</a>` : html`<a href="${link}" rel="noreferrer">Go back to ${placeOf(link)}</a>`}</p>`,
    }),
}

function placeOf(link: string): string {
  const url = URL.parse(link)
  return url?.host || url?.protocol || link
}

interface SignInView {
  /** The client that waits for the person. */
  readonly waiting?: FormView & { readonly request: WaitingClient }
  /** The page to which the person goes who does not sign in, where no client waits. */
  readonly back?: string
  readonly logins: readonly Pick<Login, 'id' | 'title'>[]
  /** Address of this page; the logins are below it. */
  readonly here: string
  readonly expired: boolean
  /** True if the person says that the one-time address was opened. */
  readonly isClaimed: boolean
  readonly isLoopback: boolean
}

export function signInPage({
  waiting,
  back,
  logins,
  here,
  expired,
  isClaimed,
  isLoopback,
}: SignInView): Page {
  const buttons = logins.map(
    ({ id, title }) => html`<a class="button main" href="${here}/with/${id}">Continue with ${title}</a>`,
  )
  return page({
    title: 'Sign in',
    ...(waiting && { formTarget: waiting.request.source }),
    body: html`
${expired && html`<p class="notice">Your session has ended. Sign in again.</p>`}
${isClaimed && html`<p class="notice">This browser is not signed in yet. Open the address that <code>dragoman login</code> printed in this browser, and press Sign in there.</p>`}
${waiting && html`<p><strong>${waiting.request.client}</strong> asks for access in your name. Sign in first.</p>`}
${buttons.length > 0 && html`<p class="actions">${buttons}</p>`}
${
  isLoopback &&
  html`<p>${buttons.length > 0 ? 'Or run' : 'Run'} <code>dragoman login</code> (in a clone <code>npm run -s dragoman -- login</code>) in a terminal of this machine and open the address that it prints in this browser.</p>
<p class="actions"><a class="button" href="${here}?claimed">I have done this</a></p>`
}
${
  !isLoopback &&
  buttons.length === 0 &&
  html`<p>Nobody can sign in here yet: the operator has configured no login (<code>DRAGOMAN_LOGINS</code>).</p>`
}
${waiting && cancelForm(waiting)}
${back !== undefined && html`<p><a href="${back}">Go back without signing in</a></p>`}`,
  })
}

/** Ends the request of a client, and leads back to it. */
function cancelForm({ action, token, request }: NonNullable<SignInView['waiting']>): Html {
  const { client, destination } = request
  const where = destination === '' ? '' : ` and go back to ${destination}`
  return html`<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
<p>If you did not start ${client}, or do not want to go on:</p>
<p class="actions"><button name="decision" value="deny">Cancel${where}</button></p>
</form>`
}

interface FormView {
  readonly action: string
  readonly token: string
}

export function consentPage({ action, token, person, mayBeOther, request }: FormView & ConsentView): Page {
  const { client, destination, source, resources, scopes } = request
  return page({
    title: `Allow ${client}?`,
    formTarget: source,
    body: html`
<p><strong>${client}</strong> asks to use ${resources.map((path) => resourceWords[path]).join(' and ')} of this gateway in your name, <strong>${person.name}</strong>.</p>
<ul>${scopes.map((scope) => html`<li>${(scopeWords as Readonly<Record<string, string>>)[scope] ?? scope}</li>`)}</ul>
<p class="soft">${
      destination === ''
        ? 'The application runs on a device.'
        : html`Then the browser goes to <strong>${destination}</strong>.`
    } Nobody has checked the name of the application: allow only what you have just started yourself.</p>
<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
<p class="actions"><button class="main" name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></p>
${mayBeOther && html`<p>Not ${person.name}? <button name="decision" value="switch">Sign in as another person</button></p>`}
</form>`,
  })
}

interface ConsentView {
  readonly person: Person
  /** Whether others than this person can sign in. */
  readonly mayBeOther: boolean
  readonly request: ConsentRequest
}

export function linkPage({ action, token, code }: FormView & { readonly code: string }): Page {
  return page({
    title: 'Sign in this browser?',
    body: html`
<p>You opened an address that <code>dragoman login</code> printed. This browser will act for the person at this machine.</p>
<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="code" value="${code}">
<p class="actions"><button class="main">Sign in</button><a class="button" href="/">Cancel</a></p>
</form>`,
  })
}

export function accountPage({ action, token, person }: FormView & { readonly person: Person }): Page {
  return page({
    title: 'Signed in',
    body: html`
<p>This browser is signed in as <strong>${person.name}</strong>.</p>
<p>If an application waits for you, go back to its page. <a href="/me">Your agents, keys and connections</a></p>
<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
<p class="actions"><button>Sign out</button></p>
</form>`,
  })
}

export function signedOutPage(): Page {
  return page({
    title: 'Signed out',
    body: html`<p>This browser is signed out. Applications that you allowed stay signed in; revoke their tokens to end that.</p>
<p class="actions"><a class="button main" href="/">To the start page</a><a class="button" href="/sign-in">Sign in again</a></p>`,
  })
}

/** Who asks for what, before the browser goes to the authorization server of an agent. */
export function connectPage({
  action,
  token,
  package_name,
  host,
  issuer,
  scopes,
  caller,
}: FormView & ConnectView): Page {
  const server = new URL(issuer).host
  return page({
    title: `Connect ${package_name}?`,
    body: html`
<p>The agent <strong>${package_name}</strong> at <strong>${host}</strong> asks <strong>${caller}</strong> to sign in at <strong>${server}</strong>.</p>
${
  scopes.length > 0
    ? html`<p>It asks for:</p>
<ul>${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}</ul>`
    : html`<p>It names no scopes: ${server} shows what it asks for.</p>`
}
<p class="soft">This gateway keeps the tokens sealed and sends them to ${host} alone, when ${caller} calls this agent. Continue only if you have just made this call yourself: if somebody sent you this address, they would act in your name.</p>
<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
<p class="actions"><button class="main">Continue to ${server}</button><a class="button" href="/agent/${encodeURIComponent(package_name)}">Cancel</a></p>
</form>`,
  })
}

/**
 * Sends the browser on without a redirect: a Content Security Policy for the target of the form would have to name every
 * host that the authorization server redirects to.
 */
export function leavePage(url: string): Page {
  const { host } = new URL(url)
  const { html: text, headers } = page({
    title: `Sign in at ${host}`,
    body: html`<p class="actions"><a class="button main" href="${url}" rel="noreferrer">Go to ${host}</a></p>`,
  })
  return { html: text, headers: { ...headers, Refresh: `0; url=${url}`, 'Referrer-Policy': 'no-referrer' } }
}

export function connectedPage(package_name: string): Page {
  return page({
    title: 'Connected',
    body: html`
<p><strong>${package_name}</strong> is connected. Go back to your application: its call goes on, or you repeat it.</p>
<p class="soft">To disconnect it, run <code>dragoman credentials forget ${package_name}</code>, or use <a href="/me/connections">Connections</a>.</p>`,
  })
}
