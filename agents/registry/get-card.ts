import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Card } from '../../schemas/card.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { Registry } from './port.ts'

/** A publisher's own card is given as it was written; in A2A's own shape `capabilities` is an object. */
const Output = Card.extend({ capabilities: z.unknown() }).partial()
type Output = z.infer<typeof Output>

export function getCard(
  registry: Registry,
  own: string,
): Action<z.output<ReturnType<typeof inputOf>>, Output> {
  return defineAction({
    name: 'get_card',
    title: 'Get an agent card',
    description: "The card of one agent; without a name, the registry's own.",
    input: input(inputOf(own)),
    output: output(Output),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: async ({ agent, a2a_version }, { principal }) =>
      await registry.card(agent, a2a_version !== undefined, principal),
  })
}

const inputOf = (own: string) =>
  z.strictObject({
    agent: agentReference.default(own),
    a2a_version: z
      .string()
      .max(20)
      .optional()
      .describe('Given, a hosted agent answers with its standard A2A 1.0 card, signed.'),
  })
