import { addressOf } from '../../schemas/names.ts'
import type { StoredEntry } from '../store/store.ts'
import { registryPackage, type Site } from './site.ts'

/** Names the envelope `{to, action, params}` among the protocol bindings of A2A, and what a card says of it. */
const envelopeBinding = 'urn:dragoman:envelope:1'
const registryExtension = 'urn:dragoman:registry:1'

/**
 * The card of a hosted agent as A2A 1.0 has it (section 4.4.1). What A2A has no field for stands in an extension's
 * params, where a signature covers it: the agent's address and the input schemas of its actions. At the URL that all
 * agents share, the tenant says which is meant; without one it is the registry, which also reads plain text.
 */
export function renderStandardCard(stored: StoredEntry, { base_url }: Site): Record<string, unknown> {
  const { package_name, name, description, version, tags, capabilities } = stored
  const own = package_name === registryPackage
  const tenant = own ? {} : { tenant: package_name }
  const modes = own ? ['application/json', 'text/plain'] : ['application/json']
  return {
    name,
    description,
    version: version ?? '0',
    supportedInterfaces: [
      { url: `${base_url}/a2a/v1`, protocolBinding: 'JSONRPC', ...tenant, protocolVersion: '1.0' },
      { url: `${base_url}/a2a/v1`, protocolBinding: 'HTTP+JSON', ...tenant, protocolVersion: '1.0' },
      { url: `${base_url}/a2a/message`, protocolBinding: envelopeBinding, protocolVersion: '1.0' },
    ],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [
        {
          uri: registryExtension,
          description: 'The address of the agent in an envelope, and the input of each action.',
          params: { agent_id: addressOf(package_name), package_name, actions: capabilities },
        },
      ],
    },
    defaultInputModes: modes,
    defaultOutputModes: modes,
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
