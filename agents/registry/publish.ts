import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import { idempotencyKey } from '../../schemas/idempotency.ts'
import { noPublication } from '../../schemas/other-document.ts'
import { Publication } from '../../schemas/publication.ts'
import { input, output, type Shape } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const named = ['package_name', 'name', 'description']
const nonEmpty = { minItems: 1 }

/** The same fields as an update, with the requirements for a new agent that a JSON Schema can express. */
const Complete = Publication.extend({ idempotency_key: idempotencyKey }).meta({
  if: { not: { required: ['manifest_url'], properties: { manifest_url: {} } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    required: named,
    properties: { package_name: {}, name: {}, description: {} },
    anyOf: [
      { required: ['capabilities'], properties: { capabilities: nonEmpty } },
      { required: ['endpoints'], properties: { endpoints: nonEmpty } },
      { required: ['packages'], properties: { packages: nonEmpty } },
    ],
  },
})

const complete = input(Complete)

/** Refuses a document that is no publication by what it is, instead of by each of its fields. */
const publication: Shape<Publication> = {
  ...complete,
  parse(value) {
    const other = noPublication(value)
    if (!other) return complete.parse(value)
    throw new Failure('invalid_request', `This is ${other.kind}, not a publication.`, { hint: other.remedy })
  },
}

export function publish(registry: RegistryPort): Action<Publication, EntryDetail> {
  return defineAction({
    name: 'publish',
    title: 'Create an agent, in STAGE',
    description:
      'Lists a new agent in STAGE, visible only to its owner until go_live. Give manifest_url; or a name, a description, and at least one of capabilities, endpoints and packages; or both: fields stated here take precedence.',
    input: publication,
    output: output(EntryDetail),
    access: { scope: 'agents:write' },
    effect: 'write',
    idempotency: 'key',
    advertised: false,
    run: (publication, { principal, signal }) => registry.publish(publication, principal, signal),
  })
}
