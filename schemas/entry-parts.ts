import { z } from 'zod'

export const State = z.enum(['STAGE', 'ACTIVE'])
export type State = z.infer<typeof State>

/** From the lowest to the highest: no owner; an owner without proof; name, manifest and proved domain agree. */
export const VerificationLevel = z.enum(['unclaimed', 'unverified', 'domain_verified'])
export type VerificationLevel = z.infer<typeof VerificationLevel>

/** A capability of an agent, as stated by its card. */
export const Capability = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(4000),
  input_schema: z.record(z.string(), z.unknown()).optional(),
  read_only: z
    .boolean()
    .optional()
    .describe(
      'The agent states that the capability changes nothing. The gateway may then repeat the call, and use it as a liveness probe.',
    ),
})
export type Capability = z.infer<typeof Capability>

/** An address at which an agent answers. */
export const Endpoint = z.object({
  protocol: z.enum(['a2a', 'mcp', 'envelope']),
  url: z.url({ protocol: /^(https?|wss?)$/ }).max(2048),
  version: z.string().max(50).optional(),
  binding: z
    .string()
    .max(200)
    .optional()
    .describe('Transport of the protocol: JSONRPC or HTTP+JSON for A2A, streamable-http or sse for MCP.'),
  tenant: z.string().max(300).optional().describe('A2A 1.0: selects one of several agents at one address.'),
})
export type Endpoint = z.infer<typeof Endpoint>

/** A package that installs an agent: the package registry (npm, pypi, oci …) and the identifier there. */
export const Package = z.object({
  registry_type: z.string().min(1).max(40),
  identifier: z.string().min(1).max(300),
  version: z.string().max(100).optional(),
})
export type Package = z.infer<typeof Package>
