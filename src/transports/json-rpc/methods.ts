import { JSONRPCErrorException, JSONRPCServer } from 'json-rpc-2.0'
import type { Agent } from '../../../schemas/action.ts'
import type { Envelope } from '../../../schemas/envelope.ts'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { packageNameOf, shortName } from '../../../schemas/names.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Call, Reply, Router } from '../../router/call.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { cancelMethod } from './in-flight.ts'

interface MethodsOptions {
  readonly dispatch: Router['dispatch']
  readonly agents: readonly Agent[]
  readonly count: TransportContext['count']
  /** The result of `rpc.discover`. */
  readonly describe: () => JsonObject
}

/** A call of a method. */
export interface MethodCall extends Call {
  /** Called with each reply: the result itself is only its output. */
  readonly replied?: (reply: Reply) => void
}

/**
 * The methods are `agent.action` (`registry.search_agents`, `wiki.get_summary`), `message.send` for an envelope,
 * and `rpc.discover`, which describes them (OpenRPC, service discovery).
 */
export function createMethods({
  dispatch,
  agents,
  count,
  describe,
}: MethodsOptions): JSONRPCServer<MethodCall> {
  const isSubscription = subscriptionsOf(agents)
  const server = new JSONRPCServer<MethodCall>({ errorListener: () => {} })
  server.mapErrorToJSONRPCErrorResponse = (id, thrown) => {
    const error =
      thrown instanceof JSONRPCErrorException ? thrown.toObject() : { code: codes.internal.rpc, message: '' }
    return { jsonrpc: '2.0', id, error }
  }

  /** Only subscriptions send notifications before the answer. */
  function add(
    method: string,
    toEnvelope: (params: JsonObject) => Envelope,
    subscribes: (envelope: Envelope) => boolean = isSubscription,
  ): void {
    server.addMethod(method, async (params, call) => {
      const envelope = toEnvelope((params ?? {}) as JsonObject)
      const { replied, emit, ...rest } = call
      const effective = emit && subscribes(envelope) ? { ...rest, emit } : rest
      return await dispatch(envelope, effective).then(
        (reply) => {
          replied?.(reply)
          return reply.output
        },
        (thrown) => {
          throw exception(Failure.from(thrown), call.id ?? '')
        },
      )
    })
  }

  server.addMethod('rpc.discover', async (_, call) => {
    await count(call).catch((thrown) => {
      throw exception(Failure.from(thrown), call.id ?? '')
    })
    return describe()
  })
  // As over the envelope's own WebSocket, an envelope gets updates only if it has a `message_id`.
  add(
    'message.send',
    (params) => params as unknown as Envelope,
    (envelope) => isSubscription(envelope) && envelope.message_id !== undefined,
  )
  for (const agent of agents) {
    const prefix = shortName(agent.package_name)
    for (const { name, aliases = [] } of agent.actions) {
      for (const action of [name, ...aliases]) {
        add(`${prefix}.${action}`, (params) => ({ to: agent.package_name, action, params }))
      }
    }
  }
  return server
}

function subscriptionsOf(agents: readonly Agent[]): (envelope: Envelope) => boolean {
  const names = new Set(
    agents.flatMap(({ package_name, actions }) =>
      actions.flatMap(({ deadline_ms, name }) => (deadline_ms === 'none' ? `${package_name} ${name}` : [])),
    ),
  )
  return ({ to, action }) => typeof to === 'string' && names.has(`${packageNameOf(to)} ${action}`)
}

function exception(failure: Failure, requestId: string): JSONRPCErrorException {
  return new JSONRPCErrorException(failure.message, codes[failure.code].rpc, problem(failure, requestId))
}

/** The failure for an unknown method, with the nearest names. */
export function unknownMethod(method: string, agents: readonly Agent[]): Failure {
  if (method === cancelMethod) {
    return new Failure('unknown_action', `${cancelMethod} cancels requests of its own WebSocket.`, {
      hint: 'Over HTTP, close the connection of the request.',
    })
  }
  const names = agents.flatMap((agent) =>
    agent.actions.map((action) => `${shortName(agent.package_name)}.${action.name}`),
  )
  const close = nearest(method, ['message.send', 'rpc.discover', ...names])
  return new Failure('unknown_action', `The method ${method} is unknown.`, {
    hint: 'message.send takes an envelope {to, action, params} for any agent; rpc.discover lists the methods.',
    ...(close.length > 0 && { nearest: close }),
  })
}
