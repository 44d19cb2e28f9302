import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Card, type StandardShape } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import { registryName } from '../../schemas/names.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const version = z.string().max(20)
const agent = agentReference.default(registryName)

const Input = z.strictObject({
  agent,
  a2a_version: version
    .optional()
    .describe(
      'If given, a hosted agent answers with its standard A2A card, signed: 1.0 alone, or for other versions with the fields of 0.3 as well.',
    ),
  through: z
    .boolean()
    .default(false)
    .describe('For a listed agent too: the standard card for calling it through this gateway.'),
})

const ExtendedInput = z.strictObject({ agent, a2a_version: version.default('1.0') })

/** A publisher's own card is returned unchanged; in A2A's own form `capabilities` is an object. */
const Output = Card.extend({ capabilities: z.unknown() }).partial().meta({ id: 'AgentCard' })
type Output = z.infer<typeof Output>

export function getCard(registry: RegistryPort): Action<z.output<typeof Input>, Output> {
  return defineAction({
    name: 'get_card',
    title: 'Get an agent card',
    description: "The card of one agent; without a name, the registry's own.",
    input: input(Input),
    output: output(Output),
    access: 'public',
    effect: 'read',
    advertised: false,
    async run({ agent, a2a_version, through }, { principal }) {
      const shape = a2a_version === undefined ? 'interface' : shapeOf(a2a_version)
      return await registry.card(agent, shape, principal, through)
    },
  })
}

export function getExtendedCard(registry: RegistryPort): Action<z.output<typeof ExtendedInput>, Output> {
  return defineAction({
    name: 'get_extended_card',
    title: 'Get an extended agent card',
    description: 'The standard card of a hosted agent, with every action that the caller may call.',
    input: input(ExtendedInput),
    output: output(Output),
    access: 'bearer',
    effect: 'read',
    advertised: false,
    run: async ({ agent, a2a_version }, { principal }) => {
      if (!principal) throw Failure.needsToken()
      return await registry.extendedCard(agent, shapeOf(a2a_version), principal)
    },
  })
}

function shapeOf(version: string): StandardShape {
  return /^1\.0(?:\.|$)/.test(version) ? '1.0' : 'any'
}
