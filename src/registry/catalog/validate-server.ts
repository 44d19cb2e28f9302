import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { issueText } from '../../../schemas/issue-text.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { ServerIssue, ServerValidation } from '../../../schemas/server.ts'
import { fieldsOf, readServer, type ServerDocument, schemaUrl } from './server-json.ts'

const datedSchema =
  /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d{2}-\d{2}\/server\.schema\.json$/
const serverName = /^[A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]\/[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$/
/** `^1.2`, `>=1`, `1.x`, `1.2.*`, `1 - 2`, `1 || 2`. */
const versionRange = /^\s*[\^~<>=]|\s-\s|\|\||(?:^|\.)[xX*](?:\.|$)/
const publisherProvided = 'io.modelcontextprotocol.registry/publisher-provided'
const maxPublisherBytes = 4096

const webUrl = z.string().max(2048).refine(isWebUrl, 'Give an http or https address.')
const secureUrl = webUrl.refine((url) => url.startsWith('https:'), 'Give an https address.')

/** What the official registry requires of a document to be published, schema 2025-12-11. */
const Publishable = z.looseObject({
  name: z.string().min(3).max(200).regex(serverName, 'Give a reverse domain name, one slash and a name.'),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .min(1)
    .max(255)
    .refine((version) => version !== 'latest', 'Give a version; `latest` has a meaning of its own.')
    .refine((version) => !versionRange.test(version), 'Give one version, not a range.'),
  title: z.string().min(1).max(100).optional(),
  websiteUrl: secureUrl.optional(),
  repository: z.looseObject({ url: webUrl, source: z.string().min(1) }).optional(),
  icons: z.array(z.looseObject({ src: secureUrl })).optional(),
  remotes: z
    .array(
      z.looseObject({
        type: z.enum(['streamable-http', 'sse']),
        url: z
          .string()
          .max(2048)
          .regex(/^https?:\/\/[^\s/]/i, 'Give an http or https address.'),
      }),
    )
    .max(20)
    .optional(),
  packages: z
    .array(
      z
        .looseObject({
          registryType: z.enum(['npm', 'pypi', 'nuget', 'cargo', 'oci', 'mcpb']),
          identifier: z.string().min(1),
          version: z.string().optional(),
          transport: z.looseObject({ type: z.enum(['stdio', 'streamable-http', 'sse']) }),
        })
        .refine(
          ({ registryType, fileSha256 }) => registryType !== 'mcpb' || typeof fileSha256 === 'string',
          'A package of mcpb needs fileSha256.',
        ),
    )
    .max(20)
    .optional(),
})

/** Every problem of a server.json for who would publish it. */
export function validateServer(value: unknown): ServerValidation {
  const issues = [...schemaIssues(value), ...contentIssues(value), ...metaIssues(value)]
  return { valid: issues.every(({ severity }) => severity !== 'error'), issues }
}

/** The document of a publication. Throws Failure `invalid_request` with a pointer to each problem. */
export function publishableServer(value: unknown): ServerDocument {
  const { valid, issues } = validateServer(value)
  if (!valid) {
    const errors = issues.filter(({ severity }) => severity === 'error')
    throw new Failure(
      'invalid_request',
      'Failed to publish server, invalid schema: call /validate for details.',
      {
        errors: errors.map(({ path, message }) => ({
          pointer: `/server/${path.replaceAll(/[.[]/g, '/').replaceAll(']', '')}`,
          detail: message,
        })),
      },
    )
  }
  const { _meta, ...document } = readServer(value)
  const provided = isRecord(_meta) ? _meta[publisherProvided] : undefined
  return { ...document, ...(provided !== undefined && { _meta: { [publisherProvided]: provided } }) }
}

function schemaIssues(value: unknown): ServerIssue[] {
  const stated = isRecord(value) ? value.$schema : undefined
  const issue = (message: string, reference: string, severity: ServerIssue['severity']): ServerIssue[] => [
    { type: 'schema', path: '$schema', message, severity, reference },
  ]
  if (typeof stated !== 'string' || stated === '') {
    return issue(`$schema is required: ${schemaUrl}`, 'schema-field-required', 'error')
  }
  if (!datedSchema.test(stated)) {
    return issue(`The schema must be one such as ${schemaUrl}`, 'schema-version-extraction-error', 'error')
  }
  if (stated === schemaUrl) return []
  return issue(`The current schema is ${schemaUrl}`, 'schema-version-deprecated', 'warning')
}

function contentIssues(value: unknown): ServerIssue[] {
  const { error } = Publishable.safeParse(value)
  if (error)
    return error.issues.map((issue) => problem(issue.path, textOf(issue, value), 'schema', 'server-json'))
  try {
    fieldsOf(readServer(value))
    return []
  } catch (thrown) {
    if (thrown instanceof z.ZodError) {
      return thrown.issues.map((issue) =>
        problem(['packages', ...issue.path], issueText(issue), 'semantic', 'package'),
      )
    }
    if (!(thrown instanceof Failure)) throw thrown
    return (thrown.details.errors ?? []).map(({ pointer, detail }) =>
      problem(pointer.split('/').slice(1), detail, 'semantic', 'deceptive-text'),
    )
  }
}

function textOf(issue: z.core.$ZodIssue, value: unknown): string {
  const current = issue.path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )
  const isMissing = current === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
  return isMissing ? 'This field is required.' : issueText(issue, {}, current)
}

function metaIssues(value: unknown): ServerIssue[] {
  const meta = isRecord(value) ? value._meta : undefined
  if (!isRecord(meta)) return []
  const bytes = Buffer.byteLength(JSON.stringify(meta[publisherProvided] ?? null))
  if (bytes <= maxPublisherBytes) return []
  const message = `${publisherProvided} may have ${maxPublisherBytes} bytes, not ${bytes}.`
  return [problem(['_meta', publisherProvided], message, 'semantic', 'publisher-meta-size')]
}

function problem(
  path: readonly PropertyKey[],
  message: string,
  type: ServerIssue['type'],
  reference: string,
): ServerIssue {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number' || /^\d+$/.test(String(part))) return `${before}[${String(part)}]`
    return before === '' ? String(part) : `${before}.${String(part)}`
  }, '')
  return { type, path: text, message, severity: 'error', reference }
}

function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}
