import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { Validation, ValidationRequest } from '../../schemas/validation.ts'
import type { RegistryPort } from './port.ts'

export function validate(registry: RegistryPort): Action<ValidationRequest, Validation> {
  return defineAction({
    name: 'validate',
    title: 'Validate a card or a publication',
    description:
      'Reports the errors in an agent card, a manifest URL or a publication, and how it would be listed. Writes nothing.',
    input: input(ValidationRequest),
    output: output(Validation),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: (request, { principal, signal }) => registry.validate(request, principal, signal),
  })
}
