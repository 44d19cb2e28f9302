import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { ChangePage, RegistryChange } from '../../schemas/change.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { Changes } from './port.ts'

const Input = z.strictObject({
  since: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'The last revision that you have; later changes are returned. 0 returns everything from the beginning.',
    ),
  limit: z.int().min(1).max(100).default(100).describe('Revisions per page, 1 to 100.'),
  agent: agentReference.optional().describe('Only changes of this agent: its package name, address or id.'),
})

/** Reports its starting point as progress, and reports when there are no further changes for now. */
export function watchChanges(changes: Changes): Action<z.output<typeof Input>, ChangePage, RegistryChange> {
  return defineAction({
    name: 'watch_changes',
    title: 'Follow the registry',
    description:
      'Changes of listed agents after a revision, in order: listed (new or changed), unlisted, deleted, liveness. Streams them as they happen if the caller can receive a stream; else returns a page.',
    input: input(Input),
    output: output(ChangePage),
    part: output(RegistryChange),
    access: 'public',
    effect: 'read',
    advertised: false,
    deadline_ms: 'none',
    fallback: ({ since, limit, agent }) => changes.page(since, limit, agent),
    async run({ since, agent }, { principal, counted_as, signal, emit }) {
      const who = { counted_as, has_token: principal !== null && principal.confined_to === undefined }
      let at = since
      let begun = false
      let complete = false
      for await (const span of changes.follow(since, who, signal, agent)) {
        if (!begun) await emit({ progress: since, message: 'Following.' })
        begun = true
        for (const part of span.changes) await emit({ part })
        at = span.up_to
        if (span.complete && !complete)
          await emit({ progress: at, message: 'There are no further changes now.' })
        complete ||= span.complete
      }
      return { changes: [], next_since: at, revision: at, more: false }
    },
  })
}
