import type { ServerResponse } from 'node:http'
import type { Envelope } from '../../../../schemas/envelope.ts'
import { codes, Failure } from '../../../../schemas/failure.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'
import { costs } from '../../../router/limiter.ts'
import type { Mount } from '../../http/app.ts'
import { readFormBody } from '../../http/body.ts'
import { overCost } from '../../http/caller.ts'
import { sendCoded } from '../../http/coded.ts'
import type { ReadRequest } from '../../http/input.ts'
import { requestId } from '../../http/request-id.ts'
import { failureHeaders, send, sendStream } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import { createForms } from '../../shared/forms.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { html } from '../html.ts'
import type { AssetPaths } from './assets.ts'
import { onceFields } from './fields.ts'
import { createFormAnswers } from './form-answers.ts'
import { hintText } from './hint.ts'
import { layout } from './layout.ts'
import type { View, Visit } from './view.ts'
import { type Visitor, type VisitorPort, visitorOf } from './visitor.ts'
import { words } from './words.ts'

/** Answers with a page, a file to keep, or the address here to go on at. */
export type Render = (visit: Visit) => Promise<View | Download | { readonly location: string }>
export type Act = (visit: Visit, form: URLSearchParams) => Promise<View | { readonly location: string }>

interface Download {
  readonly file: string
  /** The text of the file, in parts that are made as the visitor takes them. */
  readonly parts: AsyncIterable<string>
}

/** Makes the mounts of the pages, all in one frame. */
export interface PageFrame {
  /** A page at a path. */
  page(path: string, render: Render): Mount
  /** What a form of a page posts. Requests that the visitor's own pages did not send are refused. */
  form(path: string, act: Act): Mount
}

/** Cards are pasted into forms. */
const maxFormBytes = 512 * 1024
/** A form that is shown again shows every field. */
const maxFormFields = 200

/** Scripts, styles and pictures come from here alone, and nobody may put a page in a frame. */
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types page',
].join('; ')

const fixed = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': securityPolicy,
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** The frame of all pages: who visits, what the page may ask, how its answer or its error is sent. */
export function openSite(context: TransportContext, port: VisitorPort, paths: AssetPaths): PageFrame {
  const forms = createForms(port.isSecure)
  const answers = createFormAnswers()

  async function serve<Fields>(
    request: ReadRequest,
    response: ServerResponse,
    read: (request: ReadRequest) => Fields,
    render: (
      visit: Visit,
      fields: Awaited<Fields>,
    ) => Promise<View | Download | { readonly location: string }>,
  ): Promise<void> {
    const client = clientOf(context, request)
    const id = requestId(request)
    let visitor: Visitor | undefined

    async function show(view: View, headers: Record<string, string>): Promise<void> {
      // What a form asked for is nobody else's.
      const isForm = request.method === 'POST'
      const isPrivate = isForm || visitor === undefined || visitor.person !== null || visitor.expired
      const charge = (bytes: number) =>
        context.limits.charge({ principal: visitor?.principal ?? null, client }, bytes * costs.compressedByte)
      const all = {
        'Cache-Control': isPrivate ? 'private, no-store' : 'public, max-age=60',
        ...headers,
        ...fixed,
        'X-Request-Id': id,
        Vary: 'Accept, Cookie',
      }
      // What a form was sent to may be no page.
      const page = layout(view, visitor, paths, isForm ? '/' : request.url)
      await sendCoded(request, response, view.status ?? 200, page, all, charge)
    }

    try {
      const refused = overCost(context, request)
      if (refused) throw refused
      // The session may end while a slow body arrives.
      const fields = await read(request)
      visitor = await visitorOf(port, request)
      const { principal, operator, session } = visitor
      // A browser that sends a form again gives up the first answer: what the form does goes on for the second.
      const isOnce = fields instanceof URLSearchParams && fields.has('once')
      const signal = isOnce ? new AbortController().signal : signalOf(response)
      const call = { principal, signal, id, client }
      const dispatch = async (envelope: Envelope, by = call) => (await context.dispatch(envelope, by)).output
      const visit: Visit = {
        request,
        visitor,
        ask: async <Output>(action: string, params: JsonObject) =>
          (await dispatch({ to: registryName, action, params })) as Output,
        operate: async <Output>(action: string, params: JsonObject) =>
          (await dispatch(
            { to: registryName, action, params },
            { ...call, principal: operator ?? principal },
          )) as Output,
        call: (envelope) => dispatch(envelope),
        count: () => context.count(call),
        token: () => (session === '' ? '' : forms.token(request, response, session)),
      }
      const answer = await render(visit, fields)
      if ('main' in answer) return await show(answer, {})
      if ('file' in answer) return await download(request, response, answer)
      send(request, response, 303, '', { Location: answer.location, 'Cache-Control': 'no-store' })
    } catch (thrown) {
      const failure = failureOf(context, thrown)
      const view = { ...failureView(failure), status: codes[failure.code].http }
      await show(view, failureHeaders(context, request, failure, id))
    }
  }

  return {
    page: (path, render) => ({
      method: 'get',
      path,
      handler: (request, response) => serve(request, response, () => {}, render),
    }),
    form: (path, act) => ({
      method: 'post',
      path,
      handler: (request, response) =>
        serve(request, response, readForm, async (visit, form) => {
          const { session } = visit.visitor
          const isBound = session !== '' || form.has('token')
          // The session may have ended, or begun, since the form was shown: what was typed stays.
          if (isBound && forms.isStale(request, form, session)) return resendView(visit, form)
          if (isBound) forms.check(request, form, session)
          else forms.assertOwnSite(request)
          form.delete('token')
          return answers.once(`${session} ${request.url}`, form, () => act(visit, form))
        }),
    }),
  }
}

async function readForm(request: ReadRequest): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readFormBody(request, maxFormBytes)).toString('utf8'))
  if (form.size <= maxFormFields) return form
  throw new Failure('too_large', `The form has more than ${maxFormFields} fields.`)
}

/** The first part comes before the head, so that what is refused is shown as a page. */
async function download(
  request: ReadRequest,
  response: ServerResponse,
  { file, parts }: Download,
): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all(): AsyncGenerator<string> {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value
  }
  await sendStream(request, response, all(), {
    'Content-Type': 'application/json',
    'Content-Disposition': `attachment; filename="${file}"`,
    'Cache-Control': 'private, no-store',
  })
}

/** The page of an error: what is wrong, what to do, and its code. */
function failureView({ code, message, details }: Failure): View {
  const main = html`<div class="plain"><h1>${words.wrong}</h1><p>${message}</p>
${details.hint !== undefined && html`<p>${hintText(details.hint)}</p>`}
<p class="hint"><a href="/docs/errors#${code}"><code>${code}</code></a></p>
<p><a class="button" href="/">${words.home}</a></p></div>`
  return { title: words.wrong, description: message, main }
}

/** Fields that may hold a secret, which is kept and not shown. */
const secrets = /^(?:value$|variables$|environment\.|argument\.)/

/** Shows a form again that was shown to another session, with all that was typed. */
function resendView({ request, visitor, token }: Visit, form: URLSearchParams): View {
  const fields = [...form].filter(([name]) => name !== 'token' && name !== 'once')
  const main = html`<div class="plain"><h1>${words.resend}</h1>
${
  visitor.person
    ? html`<p>${words.resend_as} <strong>${visitor.person.name}</strong>.</p>`
    : html`<p>${words.resend_signed_out}</p><p><a class="button" href="/sign-in" target="_blank">${words.sign_in_again}</a></p>`
}
<form method="post" action="${request.url ?? ''}">${onceFields({ token: () => token() || 'none' })}
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p><button class="button main">${words.send}</button></p></form>
<dl class="facts">${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${secrets.test(name) ? '•••' : value.slice(0, 200)}</dd></div>`)}</dl></div>`
  return { title: words.resend, main, status: 403 }
}
