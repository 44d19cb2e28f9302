import { addressOf } from '../../schemas/names.ts'
import type { StoredEntry } from '../store/store.ts'
import type { Site } from './site.ts'

/** Names the envelope `{to, action, params}` among the protocol bindings of A2A, and what a card says of it. */
const envelopeBinding = 'urn:dragoman:envelope:1'
const registryExtension = 'urn:dragoman:registry:1'

/**
 * The card of a hosted agent as A2A 1.0 has it (section 4.4.1). What A2A has no field for stands in an extension's
 * params, where a signature covers it: the agent's address and the input schemas of its actions.
 */
export function renderStandardCard(stored: StoredEntry, { base_url }: Site): Record<string, unknown> {
  const { package_name, name, description, version, tags, capabilities } = stored
  return {
    name,
    description,
    version: version ?? '0',
    supportedInterfaces: [
      { url: `${base_url}/a2a/message`, protocolBinding: envelopeBinding, protocolVersion: '1.0' },
    ],
    capabilities: {
      extensions: [
        {
          uri: registryExtension,
          description: 'The address of the agent in an envelope, and the input of each action.',
          params: { agent_id: addressOf(package_name), package_name, actions: capabilities },
        },
      ],
    },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: capabilities.map((capability) => ({
      id: capability.name,
      name: capability.name,
      description: capability.description,
      tags: tags.length > 0 ? tags : ['agent'],
      inputModes: ['application/json'],
      outputModes: ['application/json'],
    })),
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  }
}
