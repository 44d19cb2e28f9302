import { type Code, codes, Failure } from '../../../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../../../schemas/json.ts'
import { listedActions } from '../../../../../schemas/names.ts'
import { inputRequiredIn } from '../../../../../schemas/task.ts'
import { parseJson } from '../../../../common/json.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { onceFields } from '../fields.ts'
import { hintText } from '../hint.ts'
import { colouredJson, pageOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { View } from '../view.ts'
import { agentWords, words } from '../words.ts'
import { plainForm } from './form.ts'

const text = words.answer

/** Characters of an answer that are shown. */
const maxAnswer = 100_000

/** The calls of people who are signed in: any agent, in their name. Scripts put the answer below the form. */
export function callMounts({ form }: PageFrame): Mount[] {
  return [
    form('/agent/:agent/call', async ({ request, visitor, call, token }, fields) => {
      const agent = String(request.params.agent)
      if (!visitor.person) return { location: `/sign-in?then=${encodeURIComponent(pageOf(agent))}` }
      const action = fields.get('capability') ?? ''
      const began = performance.now()
      try {
        const output = await call({ to: agent, action, params: inputIn(fields) })
        const shown = html`${answer(output, performance.now() - began)}${replyForm(agent, token(), output)}`
        return answerView(agent, action, html`<div id="answer">${shown}</div>`)
      } catch (thrown) {
        if (!(thrown instanceof Failure) || thrown.code === 'internal') throw thrown
        const again = plainForm(agent, token(), action, typedIn(fields))
        const shown = html`${refusal(agent, thrown)}${again}`
        return { ...answerView(agent, action, shown), status: codes[thrown.code].http }
      }
    }),
  ]
}

/** The input as it was typed, in JSON: that of a call, or of the answer to a question of its agent. */
function typedIn(fields: URLSearchParams): string {
  const typed = fields.get('input') || '{}'
  const [task, words] = [fields.get('task_id'), fields.get('text')]
  if (task === null) return typed
  return `{"task_id": ${JSON.stringify(task)}, "input": ${words === null ? typed : JSON.stringify({ text: words })}}`
}

function inputIn(fields: URLSearchParams): JsonObject {
  const input = parseJson(typedIn(fields))
  if (isRecord(input)) return input as JsonObject
  throw new Failure('invalid_request', text.no_object)
}

function answerView(agent: string, action: string, shown: Html): View {
  const title = `${action} – ${agent}`
  const main = html`<div class="plain"><h1>${text.title}</h1><p><code dir="ltr">${action}</code> <a href="${pageOf(agent)}">${agent}</a></p>${shown}</div>`
  return { title, main, place: 'browse' }
}

function answer(output: Json, milliseconds: number): Html {
  const json = JSON.stringify(output, null, 2)
  const left = json.length - maxAnswer
  return html`<p class="hint">${Math.round(milliseconds)} ms</p><pre tabindex="0">${colouredJson(json.slice(0, maxAnswer))}</pre>${left > 0 && html`<p class="hint">${text.cut(left)}</p>`}`
}

/** Answers the question of an agent: in words, or in JSON where the question is more than words. */
function replyForm(agent: string, token: string, output: Json): Html | false {
  const required = inputRequiredIn(output)
  if (!required) return false
  const { status, task_id, question } = required
  const isWords = status === 'input_required' && isRecord(question) && Object.keys(question).join() === 'text'
  const fields = onceFields({ token: () => token }, { capability: listedActions.continuation, task_id })
  const field = isWords
    ? html`<label>${text.your_answer}<textarea name="text" rows="3" dir="auto" required></textarea></label>`
    : html`<label>${agentWords.whole_as_json}<textarea name="input" rows="3" spellcheck="false">{}</textarea></label>`
  return html`<div class="reply"><form method="post" action="${pageOf(agent)}/call">${fields}<div class="fields"><div>${field}</div></div><p><button class="button main">${text.reply}</button></p></form></div>`
}

/** Why a call failed, with the page that helps. Faults of fields are data for the script, which puts them at the fields. */
function refusal(agent: string, { code, message, details }: Failure): Html {
  const { hint, errors = [], sign_in_url } = details
  const ways = wayOn(code, agent, sign_in_url)
  return html`<div id="answer" data-errors="${JSON.stringify(errors)}"><div class="note bad"><p>${message}</p>${hint !== undefined && html`<p>${hintText(hint)}</p>`}<p class="hint"><a href="/docs/errors#${code}"><code>${code}</code></a></p>${ways && html`<p><a class="button main" href="${ways.address}">${ways.label}</a></p>`}</div></div>`
}

function wayOn(code: Code, agent: string, signInUrl: string | undefined) {
  const named = `?agent=${encodeURIComponent(agent)}`
  if (signInUrl !== undefined) return { address: signInUrl, label: text.sign_in }
  if (code === 'approval_required') return { address: `/me/packages${named}`, label: text.approve }
  if (code === 'upstream_failed' || code === 'unauthenticated') {
    return { address: `/me/connections${named}`, label: text.credential }
  }
  return undefined
}
