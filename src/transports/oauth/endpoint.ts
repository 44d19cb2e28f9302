import type { Principal } from '../../../schemas/scope.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { clientOf } from '../shared/client-address.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { authenticateClient } from './client.ts'
import { readForm } from './form.ts'
import { noStore, refuse } from './refusal.ts'

export interface EndpointOptions {
  readonly context: TransportContext
  /** Counts an attempt of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
}

/** A path that OAuth clients post forms to. `answer` gives the JSON text of the answer, or throws what is refused. */
export function clientEndpoint(
  path: string,
  { context, count }: EndpointOptions,
  answer: (form: URLSearchParams, client: Principal) => Promise<string>,
): Mount {
  return {
    method: 'post',
    path,
    async handler(request, response) {
      try {
        count(clientOf(context, request).address)
        const form = await readForm(request)
        const client = await authenticateClient(context, request, form)
        send(request, response, 200, await answer(form, client), noStore)
      } catch (thrown) {
        refuse(context, request, response, thrown)
      }
    },
  }
}
