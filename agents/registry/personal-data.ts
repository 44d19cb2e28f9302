import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { PersonalDataPage, PersonalTable } from '../../schemas/personal-data.ts'
import { input, output } from '../../schemas/shape.ts'
import { requireDeleter, requirePrincipal } from './caller.ts'
import type { RegistryPort } from './port.ts'

const person = {
  subject: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Subject of the tokens of the person; your own when absent. Another one needs admin.'),
  issuer: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe("Issuer of those tokens; this gateway's own when absent."),
}

const ExportInput = z.strictObject({
  ...person,
  table: PersonalTable.default('entries'),
  cursor: z.string().max(500).optional(),
})

export function getPersonalData(
  registry: RegistryPort,
): Action<z.output<typeof ExportInput>, PersonalDataPage> {
  return defineAction({
    name: 'get_personal_data',
    title: 'Export personal data',
    description: 'Everything that the registry stores of you, table by table. Secrets are left out.',
    input: input(ExportInput),
    output: output(PersonalDataPage),
    access: 'bearer',
    effect: 'read',
    advertised: false,
    run: (request, { principal }) => registry.personalData(request, requirePrincipal(principal)),
  })
}

const DeleteInput = z.strictObject({ ...person, confirm: z.literal(true).describe('This cannot be undone.') })
const Deleted = z.object({
  pseudonym: z.string().describe('The name that the logs have in the place of yours.'),
  deleted_agents: z.int(),
})

export function deletePersonalData(
  registry: RegistryPort,
): Action<z.output<typeof DeleteInput>, z.infer<typeof Deleted>> {
  return defineAction({
    name: 'delete_personal_data',
    title: 'Delete personal data',
    description:
      'Deletes your agents, API keys, webhooks, credentials, tasks and sessions. The logs of agents keep a pseudonym. Transfer an agent first if it is to stay. Tokens end when they expire, or are revoked.',
    input: input(DeleteInput),
    output: output(Deleted),
    access: 'bearer',
    effect: 'write',
    advertised: false,
    deadline_ms: 60_000,
    run: ({ confirm: _, ...request }, { principal }) =>
      registry.deletePersonalData(request, requireDeleter(principal)),
  })
}
