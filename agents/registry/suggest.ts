import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Suggestions } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  text: z
    .string()
    .max(100)
    .default('')
    .describe('What was typed so far: the beginning of a name, of a word of it, or a part.'),
  limit: z.int().min(1).max(20).default(8),
})

export function suggest(registry: RegistryPort): Action<z.output<typeof Input>, Suggestions> {
  return defineAction({
    name: 'suggest',
    title: 'Suggest names',
    description: 'Names of listed agents that complete a text, for search as one types, the best first.',
    input: input(Input),
    output: output(Suggestions),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ text, limit }) => registry.suggest(text, limit),
  })
}
