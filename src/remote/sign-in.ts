import { z } from 'zod'
import type { EntryDetail } from '../../schemas/card.ts'
import type { RequestContent } from '../../schemas/content.ts'
import type { SignInPlace } from '../../schemas/credential.ts'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../schemas/json.ts'
import type { Principal } from '../../schemas/scope.ts'
import { wantsCredential } from './refusal.ts'
import type { Refused, RemoteCall } from './remote-agent.ts'
import { openTask, sealTask, type TaskHolder } from './task-reference.ts'

/** A caller at the address of an agent. */
interface CallerAtAgent {
  readonly entry: EntryDetail
  readonly endpoint: Endpoint
  readonly principal: Principal
}

/** Sign-ins of callers to agents. */
export interface SignInPort {
  /** The headers after the agent refused these; undefined if there are no other ones. */
  renewed(caller: CallerAtAgent, refused: RemoteCall['headers']): Promise<RemoteCall['headers'] | undefined>
  /** Undefined if the refusal asks for no sign-in. Throws Failure for a sign-in that cannot be used. */
  ask(caller: CallerAtAgent, refusal: Failure): Promise<SignInPlace | undefined>
  /** Resolves when the caller has signed in after a time (milliseconds since the epoch), or after a while. */
  signedIn(caller: CallerAtAgent, since: number, signal: AbortSignal): Promise<void>
}

/**
 * Does the work; where the agent refuses the credential of its caller, again with a renewed one. Throws Failure
 * `sign_in_required` if the agent asks for a sign-in; `reference` names the call for `continue_task`.
 */
export async function withSignIn<Answer extends object>(
  port: SignInPort,
  caller: CallerAtAgent,
  remote: RemoteCall,
  work: (remote: RemoteCall) => Promise<Answer | Refused>,
  reference: () => Promise<string | undefined>,
): Promise<Answer | Refused> {
  const first = await work(remote)
  if (!isCredentialRefusal(first)) return first
  const headers = await port.renewed(caller, remote.headers)
  const answer = headers ? await work({ ...remote, headers: { ...remote.headers, ...headers } }) : first
  if (!isCredentialRefusal(answer)) return answer
  const address = await port.ask(caller, answer.refused)
  if (!address) return answer
  throw required(caller, address, answer.refused, await reference())
}

function isCredentialRefusal(answer: object): answer is Refused {
  return 'refused' in answer && answer.refused instanceof Failure && wantsCredential(answer.refused)
}

function required(
  { entry }: CallerAtAgent,
  { sign_in_url, issuer }: SignInPlace,
  refusal: Failure,
  task_id: string | undefined,
): Failure {
  const { upstream } = refusal.details
  return new Failure(
    'sign_in_required',
    `${entry.package_name} asks you to sign in at ${new URL(issuer).host}. Open ${sign_in_url} in a browser.`,
    {
      sign_in_url,
      ...(task_id !== undefined && { task_id }),
      hint: 'Only a person can sign in: a model shows its user the address. Then repeat the call, or call continue_task with this task_id and an empty input, which waits for the sign-in.',
      ...(upstream && { upstream }),
    },
    refusal,
  )
}

/** A call that waits for the sign-in of its caller; its reference holds it. */
const WaitingCall = z.object({
  action: z.string(),
  params: z.record(z.string(), z.json()),
  read_only: z.boolean(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  task: z.object({ task_id: z.string(), context_id: z.string().exactOptional() }).exactOptional(),
  /** What a caller of A2A sent beside the params. */
  content: z.record(z.string(), z.json()).exactOptional(),
})

interface WaitingCall {
  readonly action: string
  readonly params: JsonObject
  readonly read_only: boolean
  readonly since: number
  readonly task?: { readonly task_id: string; readonly context_id?: string }
  readonly content?: RequestContent
}

/** A call with longer params is repeated by its caller. */
const maxReference = 32 * 1024

/** No agent makes references of this holder. */
const holderOf = ({ agent, caller }: TaskHolder): TaskHolder => ({ agent: `sign-in ${agent}`, caller })

export function sealWaiting(call: WaitingCall, holder: TaskHolder, secret: Uint8Array): string | undefined {
  const reference = sealTask({ task_id: JSON.stringify(call) }, holderOf(holder), secret)
  return reference.length <= maxReference ? reference : undefined
}

/** False for the answers of an MCP client whose user does not visit the address: nobody waits for that. */
export function isAccepted(inputResponses: unknown): boolean {
  const answers = isRecord(inputResponses) ? Object.values(inputResponses) : []
  return answers.every((answer) => isRecord(answer) && answer.action === 'accept')
}

/** Undefined for a reference of another kind. */
export function openWaiting(
  reference: string,
  holder: TaskHolder,
  secret: Uint8Array,
): WaitingCall | undefined {
  try {
    const { task_id } = openTask(reference, holderOf(holder), secret)
    return WaitingCall.parse(JSON.parse(task_id)) as WaitingCall
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}
