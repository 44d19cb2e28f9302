import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { NameCompletion } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  prefix: z.string().max(220).default('').describe('Beginning of the package name.'),
  limit: z.int().min(1).max(1000).default(100),
  after: z
    .string()
    .max(220)
    .optional()
    .describe('Only names behind this one: the last name of the previous page.'),
})

export function completeName(registry: RegistryPort): Action<z.output<typeof Input>, NameCompletion> {
  return defineAction({
    name: 'complete_name',
    title: 'Complete a package name',
    description: 'Package names of listed agents that begin with a prefix, in order.',
    input: input(Input),
    output: output(NameCompletion),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ prefix, limit, after }) => registry.completeName(prefix, limit, after),
  })
}
