import { z } from 'zod'
import { type Action, type Agent, defineAction, defineAgent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { agentReference } from '../../schemas/publication.ts'
import { holds, type Principal } from '../../schemas/scope.ts'
import { IntentInput, SearchOutput } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'

/** What the playground needs of whoever keeps its sessions. */
export interface Sessions {
  /** A new session; `expires_at` is RFC 3339. */
  create(): { id: string; expires_at: string }
  /** Throws Failure `not_found` where there is no such session, or no longer. */
  find(id: string): void
  /** Counts one execution and answers with its number. Throws Failure `not_found`. */
  step(id: string): number
}

/** Lets anybody try the registry: a session, a search, a call. */
export function createPlayground(sessions: Sessions): Agent {
  return defineAgent({
    package_name: 'svc.playground',
    name: 'Playground',
    description: 'Create a session, discover agents and execute a capability.',
    tags: ['playground'],
    listed: false,
    actions: [createSession(sessions), discover(sessions), execute(sessions)],
  })
}

const Session = z.object({ id: z.string(), expires_at: z.iso.datetime() })

function createSession(sessions: Sessions): Action<Record<string, never>, z.infer<typeof Session>> {
  return defineAction({
    name: 'create_session',
    title: 'Create a session',
    description: 'Starts a playground session of one hour.',
    input: input(z.strictObject({})),
    output: output(Session),
    access: 'public',
    effect: 'write',
    advertised: false,
    async run(_, { principal }) {
      admit(principal)
      return sessions.create()
    },
  })
}

const sessionId = z.string().min(1).max(100).describe('Id of the session.')
const Discovery = IntentInput.extend({ session: sessionId })

function discover(sessions: Sessions): Action<z.output<typeof Discovery>, SearchOutput> {
  return defineAction({
    name: 'discover',
    title: 'Discover agents',
    description: 'Finds agents by intent, as search does.',
    input: input(Discovery),
    output: output(SearchOutput),
    access: 'public',
    effect: 'read',
    advertised: false,
    async run({ session, ...params }, { principal, call }) {
      admit(principal)
      sessions.find(session)
      return (await call({ to: 'svc.registry', action: 'search', params })) as unknown as SearchOutput
    },
  })
}

const Execution = z.strictObject({
  session: sessionId,
  agent: agentReference,
  capability: z.string().min(1).max(200).describe('Name of the action to call.'),
  input: z.record(z.string(), z.unknown()).default({}),
})
const Executed = z.object({
  output: z.json(),
  step: z.int().describe('How many calls the session has made.'),
})
type Executed = { output: Json; step: number }

function execute(sessions: Sessions): Action<z.output<typeof Execution>, Executed> {
  return defineAction({
    name: 'execute',
    title: 'Execute a capability',
    description: 'Calls one capability of a hosted agent, with the rights of the session or of your token.',
    input: input(Execution),
    output: output(Executed as z.ZodType<Executed>),
    access: 'public',
    effect: 'call',
    advertised: false,
    deadline_ms: 30_000,
    async run({ session, agent, capability, input: params }, { principal, call }) {
      admit(principal)
      const step = sessions.step(session)
      const result = await call({ to: agent, action: capability, params })
      return { output: result, step }
    },
  })
}

/** A session needs no token; a token that uses one needs the scope. */
function admit(principal: Principal | null): void {
  if (!principal || principal.confined_to || holds(principal, 'playground')) return
  throw new Failure('forbidden', 'The token lacks the scope playground.', { scope: 'playground' })
}
