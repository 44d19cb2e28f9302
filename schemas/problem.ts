import { z } from 'zod'
import { Endpoint } from './entry-parts.ts'
import { type Code, codes } from './failure.ts'
import { Scope } from './scope.ts'
import { output } from './shape.ts'

const FieldError = z
  .object({
    pointer: z
      .string()
      .describe(
        'JSON Pointer (RFC 6901) to the field in the input of the action (the body, or `params` or `input` in it), or to the query parameter; empty for the whole.',
      ),
    detail: z.string(),
  })
  .meta({ id: 'FieldError' })

const ExhaustedQuota = z
  .object({
    quota: z.string(),
    used: z.int(),
    limit: z.int().nullable(),
    left: z.int().nullable(),
  })
  .meta({ id: 'ExhaustedQuota', description: 'The quota that is used up.' })

const UpstreamFailure = z
  .object({
    code: z
      .string()
      .optional()
      .describe('Error code of the connection, such as ENOTFOUND, or of the upstream.'),
    status: z.int().optional().describe('HTTP status of its answer.'),
    challenge: z.string().optional().describe('Its WWW-Authenticate header.'),
  })
  .meta({ id: 'UpstreamFailure', description: 'How the agent or the service behind the gateway failed.' })

/** Problem details (RFC 9457), with every member that an answer can have: the document of `problem` in failure.ts. */
const Problem = z
  .object({
    type: z.string().describe('Names the kind of problem; over HTTP the page that explains the code.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong with this request.'),
    code: z.enum(Object.keys(codes) as [Code, ...Code[]]).meta({ id: 'ProblemCode' }),
    instance: z.string().describe('Id of the request, as in the log.'),
    retryable: z.boolean().describe('Whether the same call may succeed when it is repeated a little later.'),
    errors: z.array(FieldError).optional(),
    hint: z.string().optional().describe('What the caller can do.'),
    nearest: z.array(z.string()).optional().describe('Names close to the unknown one.'),
    scope: Scope.optional().describe('The scope that is missing.'),
    retry_after_s: z.number().min(0).optional().describe('Seconds to wait before trying again.'),
    revision: z.int().optional().describe('Current revision of the entry.'),
    quota: ExhaustedQuota.optional(),
    upstream: UpstreamFailure.optional(),
    manifest_url: z.string().nullable().optional().describe('The card of an agent that cannot be called.'),
    endpoints: z.array(Endpoint).optional().describe('Where an agent that cannot be called here answers.'),
  })
  .meta({ id: 'Problem', description: 'The error, its location, and how to correct it (RFC 9457).' })

export const problemShape = output(Problem)
