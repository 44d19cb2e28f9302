import { type Action, defineAction } from '../../schemas/action.ts'
import {
  DeletedPersonalData,
  PersonalDataDeletion,
  PersonalDataPage,
  PersonalDataRange,
} from '../../schemas/personal-data.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { RegistryPort } from './port.ts'

export function getPersonalData(registry: RegistryPort): Action<PersonalDataRange, PersonalDataPage> {
  return defineAction({
    name: 'get_personal_data',
    title: 'Export your personal data',
    description: 'Everything that the registry stores of you, table by table. Secrets are left out.',
    input: input(PersonalDataRange),
    output: output(PersonalDataPage),
    // Tasks, sign-ins and addresses are not for an application that may only search and call.
    access: { scope: 'agents:write' },
    effect: 'read',
    advertised: false,
    run: (request, { principal }) => registry.personalData(request, requirePrincipal(principal)),
  })
}

export function deletePersonalData(
  registry: RegistryPort,
): Action<PersonalDataDeletion, DeletedPersonalData> {
  return defineAction({
    name: 'delete_personal_data',
    title: 'Delete your personal data',
    description:
      'Deletes your agents, API keys, webhooks, credentials, tasks and sessions. The logs of agents keep a pseudonym. Transfer an agent first if it is to stay. Tokens end when they expire, or are revoked.',
    input: input(PersonalDataDeletion),
    output: output(DeletedPersonalData),
    access: { scope: 'agents:write' },
    effect: 'write',
    advertised: false,
    deadline_ms: 60_000,
    run: (request, { principal }) => registry.deletePersonalData(request, requirePrincipal(principal)),
  })
}
