import { calledEndpoint } from '../../../schemas/callable.ts'
import type { StandardShape } from '../../../schemas/card.ts'
import { type Capability, calledName } from '../../../schemas/entry-parts.ts'
import { isRecord } from '../../../schemas/json.ts'
import {
  addressOf,
  envelopeBinding,
  listedActions,
  registryExtension,
  registryName,
} from '../../../schemas/names.ts'
import type { Site } from '../../../schemas/site.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { maxTags } from './manifest.ts'

/**
 * The A2A 1.0 card of an agent that is called through this gateway (section 4.4.1), optionally with the fields that a
 * 0.3 client needs. The agent's address and the input schemas of its actions are in an extension's params, so that a
 * signature covers them. All agents share one URL; the tenant selects the agent. Without a tenant, the URL is that of
 * the registry, which also reads plain text.
 */
export function renderStandardCard(
  stored: StoredEntry,
  { base_url }: Site,
  shape: StandardShape,
): Record<string, unknown> {
  const { package_name, name, description, version, tags, capabilities, deprecated } = stored
  const own = package_name === registryName
  const tenant = own ? {} : { tenant: package_name }
  // A listed agent interprets plain text itself.
  const modes = own || !stored.hosted ? ['application/json', 'text/plain'] : ['application/json']
  const passed = passedFacts(stored)
  const outputModes = passed.defaultOutputModes ?? ['application/json']
  return {
    name,
    description,
    version: version ?? '0',
    supportedInterfaces: [
      { url: `${base_url}/a2a/v1`, protocolBinding: 'JSONRPC', ...tenant, protocolVersion: '1.0' },
      { url: `${base_url}/a2a/v1`, protocolBinding: 'HTTP+JSON', ...tenant, protocolVersion: '1.0' },
      { url: `${base_url}/a2a/message`, protocolBinding: envelopeBinding, protocolVersion: '1.0' },
    ],
    ...(shape === 'any' && legacyFields(stored, base_url)),
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: stored.hosted,
      extensions: [
        {
          uri: registryExtension,
          description: 'The address of the agent in an envelope, and the input of each action.',
          params: {
            agent_id: addressOf(package_name),
            package_name,
            actions: capabilities,
            ...(deprecated && { deprecated }),
          },
        },
        ...passed.extensions,
      ],
    },
    defaultInputModes: passed.defaultInputModes ?? modes,
    defaultOutputModes: passed.defaultOutputModes ?? modes,
    skills: skillsOf(capabilities).map((capability) => ({
      id: calledName(capability),
      name: capability.name,
      description: capability.description,
      tags: tags.length > 0 ? tags.slice(0, maxTags) : ['agent'],
      inputModes: stored.hosted ? ['application/json'] : (passed.defaultInputModes ?? modes),
      outputModes,
      ...passed.ofSkill(capability),
    })),
    securitySchemes: {
      bearer: {
        // 0.3 states the kind in `type`; 1.0 states it by the name of the member.
        ...(shape === 'any' && { type: 'http', scheme: 'Bearer', bearerFormat: 'JWT' }),
        httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  }
}

interface PassedFacts {
  readonly defaultInputModes?: readonly string[]
  readonly defaultOutputModes?: readonly string[]
  readonly extensions: readonly object[]
  readonly ofSkill: (capability: Capability) => object
}

/** What an agent of A2A states of its messages: they pass the gateway as they are. */
function passedFacts(stored: StoredEntry): PassedFacts {
  const card = stored.hosted || calledEndpoint(stored)?.protocol !== 'a2a' ? null : stored.card
  const skills = listIn(card?.skills)
  const capabilities = isRecord(card?.capabilities) ? card.capabilities : {}
  return {
    ...textsIn(card ?? {}, 'defaultInputModes', 'defaultOutputModes'),
    extensions: listIn(capabilities.extensions).filter(
      ({ uri }) => typeof uri === 'string' && uri !== registryExtension,
    ),
    ofSkill({ id, name }) {
      const skill = skills.find((candidate) => candidate.id === (id ?? name)) ?? {}
      return textsIn(skill, 'tags', 'examples', 'inputModes', 'outputModes')
    },
  }
}

function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Those of the fields that are lists of texts, and not empty. */
function textsIn(holder: Readonly<Record<string, unknown>>, ...fields: readonly string[]): object {
  const entries = fields.map((field) => [field, holder[field]] as const)
  return Object.fromEntries(
    entries.filter(([, texts]) => Array.isArray(texts) && texts.length > 0 && texts.every(isText)),
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** A card must have at least one skill. */
function skillsOf(capabilities: StoredEntry['capabilities']): StoredEntry['capabilities'] {
  if (capabilities.length > 0) return capabilities
  return [{ name: listedActions.message, description: 'Takes a message as text or as data.' }]
}

/** 0.3 has one URL, one protocol version and no tenants (its section 5.5). */
export function legacyFields(
  { package_name, hosted }: Pick<StoredEntry, 'package_name' | 'hosted'>,
  base_url: string,
): Record<string, unknown> {
  const url = `${base_url}/a2a/v1`
  return {
    url: package_name === registryName ? url : `${url}?tenant=${package_name}`,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    supportsAuthenticatedExtendedCard: hosted,
    security: [{ bearer: [] }],
  }
}
