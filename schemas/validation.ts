import { z } from 'zod'
import { Publication } from './publication.ts'
import { Finding } from './trust.ts'

/** The document to validate: one of the three. */
export const ValidationRequest = z
  .strictObject({
    manifest_url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .optional()
      .describe('URL of a card; needs a bearer token.'),
    card: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('A card in the form in which it will be served.'),
    publication: z.record(z.string(), z.unknown()).optional().describe('The body of a publish request.'),
  })
  .refine((request) => Object.values(request).filter((value) => value !== undefined).length === 1, {
    error: 'Give one of manifest_url, card and publication, such as {"publication": {"name": "Weather", …}}.',
  })
  .meta({ minProperties: 1, maxProperties: 1 })
export type ValidationRequest = z.infer<typeof ValidationRequest>

/** The entry as it would be listed, and everything to correct, the worst finding first. */
export const Validation = z
  .object({
    valid: z.boolean().describe('True if no finding is an error, so that the agent can be listed.'),
    form: z
      .enum(['a2a-1.0', 'a2a-0.3', 'a2a-0.2', 'a2a-0.1', 'interface', 'mcp', 'unknown'])
      .nullable()
      .describe('mcp: the URL is an MCP server.'),
    findings: z.array(Finding),
    preview: z
      .object({
        package_name: z
          .string()
          .nullable()
          .describe('The package name that the card states, or the derived one.'),
        name: z.string(),
        description: z.string(),
        version: z.string().nullable(),
        tags: z.array(z.string()),
        capabilities: z.array(z.string()).describe('Names of the capabilities.'),
        endpoints: z.array(z.string()).describe('URLs of the endpoints.'),
      })
      .meta({ id: 'EntryPreview' })
      .nullable()
      .describe('The entry as it would be listed; null if it cannot be listed.'),
    publication: Publication.nullable().describe(
      'The body of a publish request that lists this agent; null if it cannot be listed.',
    ),
    card_sha256: z.string().nullable().describe('SHA-256 of the card as fetched, in hex.'),
  })
  .meta({ id: 'Validation' })
export type Validation = z.infer<typeof Validation>
