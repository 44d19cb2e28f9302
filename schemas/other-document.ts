import { isRecord } from './json.ts'
import { hasServerSchema } from './server-document.ts'

/** A document that people have beside their agents and send in the place of another. */
interface OtherDocument {
  /** What it is, with its article. */
  readonly kind: string
  /** JSON Pointer of the field that shows it. */
  readonly pointer: string
  /** What to publish in its place. */
  readonly remedy: string
}

const serverDocument: OtherDocument = {
  kind: 'a server.json of the MCP registry',
  pointer: '/$schema',
  remedy: 'Publish it with dragoman publish, or by POST /v0.1/publish. Or publish the address of its server.',
}

const openApi: OtherDocument = {
  kind: 'an OpenAPI document',
  pointer: '',
  remedy:
    'Put an MCP server or an A2A agent before the API and publish its address, or publish name, description and capabilities without an endpoint.',
}

const hostFile: OtherDocument = {
  kind: 'a configuration file of an MCP host',
  pointer: '/mcpServers',
  remedy:
    'Publish a server that a host starts by package_name, name, description and packages, such as [{"registry_type": "npm", "identifier": "PACKAGE"}], and one with an address by manifest_url.',
}

const card: OtherDocument = {
  kind: 'an A2A agent card',
  pointer: '',
  remedy:
    'Publish the address of the card: {"manifest_url": "https://example.com/.well-known/agent-card.json"}.',
}

/** What a document is that is neither a card nor a publication, if it is one of those that people confuse with these. */
export function otherDocument(document: unknown): OtherDocument | undefined {
  if (!isRecord(document)) return undefined
  if (hasServerSchema(document)) return serverDocument
  if (typeof document.openapi === 'string' || typeof document.swagger === 'string') return openApi
  return isRecord(document.mcpServers) ? hostFile : undefined
}

/** What a document is that is no publication; a card is none either. */
export function noPublication(document: unknown): OtherDocument | undefined {
  if (!isRecord(document)) return undefined
  const isCard = 'skills' in document || 'supportedInterfaces' in document || 'protocolVersion' in document
  return isCard ? card : otherDocument(document)
}
