import { envelopeShape } from '../../../schemas/envelope.ts'
import { problemShape } from '../../../schemas/problem.ts'
import type { Mount } from '../http/app.ts'
import { documentMount } from '../http/document.ts'
import type { TransportContext } from '../shared/transport-context.ts'

/**
 * `GET /schemas/envelope.json`: the JSON Schema of an envelope, with the frames that a WebSocket returns in
 * `$defs`.
 */
export function envelopeSchemaMount(
  context: Pick<TransportContext, 'limits' | 'site' | 'trusted_proxies'>,
): Mount {
  return documentMount(context, {
    path: '/schemas/envelope.json',
    type: 'application/schema+json',
    render: ({ base_url }) => JSON.stringify(envelopeSchema(base_url)),
    max_age_s: 3600,
  })
}

function envelopeSchema(baseUrl: string): object {
  const { message_id, reply_to } = envelopeShape.json.properties as Readonly<Record<string, object>>
  const echo = { message_id, reply_to }
  const frame = (name: string, schema: object, required: readonly string[] = [name]) => ({
    type: 'object',
    properties: { ...echo, [name]: schema },
    required,
    additionalProperties: false,
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${baseUrl}/schemas/envelope.json`,
    title: 'Envelope',
    description: 'A message to an agent: the agent, the action and its params.',
    ...envelopeShape.json,
    $defs: {
      Answer: {
        description: 'A frame that the gateway sends over a WebSocket.',
        oneOf: [
          frame('output', { description: 'The output of the action.' }),
          frame('error', { $ref: '#/$defs/Problem' }),
          frame('update', { $ref: '#/$defs/Update' }, ['message_id', 'update']),
        ],
      },
      Update: {
        type: 'object',
        description: 'The progress of the action, or a part of its output.',
        anyOf: [{ required: ['progress'] }, { required: ['part'] }],
        properties: { progress: { type: 'number' }, total: { type: 'number' }, message: { type: 'string' } },
      },
      ...(problemShape.named?.$defs as object),
    },
  }
}
