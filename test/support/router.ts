import type { Action, Agent, Context } from '../../schemas/action.ts'
import type { Principal, Scope } from '../../schemas/scope.ts'
import type { Shape } from '../../schemas/shape.ts'
import type { Call, Observation, RouterOptions } from '../../src/router/call.ts'
import { createRouter } from '../../src/router/router.ts'

/** A shape that accepts every value. */
export const anything: Shape<unknown> = { json: {}, parse: (value) => value }

/** A public read that echoes its input, with the given name; `overrides` changes it. */
export function sampleAction(name: string, overrides: Partial<Action> = {}): Action {
  return {
    name,
    title: name,
    description: name,
    input: anything,
    output: anything,
    access: 'public',
    effect: 'read',
    advertised: true,
    run: async (input) => input,
    ...overrides,
  }
}

export function sampleAgent(package_name: string, actions: readonly Action[], tags: string[] = []): Agent {
  return { package_name, name: package_name, description: package_name, tags, actions }
}

/** No token ends. */
export const lasting: RouterOptions['standing'] = { watch: () => () => {} }

/** A router over these agents, and its observations. */
export function routerOver(agents: readonly Agent[], options: Partial<RouterOptions> = {}) {
  const observations: Observation[] = []
  const router = createRouter({
    resolve: async (to) => agents.find((agent) => agent.package_name === to),
    admit: () => undefined,
    chargeCheck: () => {},
    chargeWrite: () => {},
    observe: () => (observation) => void observations.push(observation),
    revision: () => 7,
    standing: lasting,
    clock: Date.now,
    createId: () => 'made-id',
    check_outputs: true,
    once: (_, input, work) => work(input),
    ...options,
  })
  return { ...router, observations }
}

export function anonymous(overrides: Partial<Call> = {}): Call {
  return { principal: null, client: 'local', signal: new AbortController().signal, ...overrides }
}

export function principal(
  subject: string,
  scopes: readonly Scope[] = [],
  namespaces: string[] = [],
): Principal {
  return { issuer: 'urn:test', subject, scopes: new Set(scopes), namespaces }
}

/** An action that ends only with its signal, and the context of its call once it runs. */
export function hangingAction(name: string, overrides: Partial<Action> = {}) {
  const started = Promise.withResolvers<Context>()
  const action = sampleAction(name, {
    run(_, context) {
      started.resolve(context)
      return new Promise(() => {})
    },
    ...overrides,
  })
  return { action, started: started.promise }
}
