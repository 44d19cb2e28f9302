import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import type { Step } from '../../schemas/playground.ts'
import { input, output } from '../../schemas/shape.ts'
import { admit, sessionId } from './caller.ts'
import { toCurl } from './export/curl.ts'
import { toFrames } from './export/mcp.ts'
import { planOf } from './export/plan.ts'
import { toTypeScript } from './export/typescript.ts'
import type { PlaygroundNeeds, Sessions } from './port.ts'

const writers = {
  curl: { write: toCurl, filename: 'playground.sh', media_type: 'text/x-shellscript' },
  typescript: { write: toTypeScript, filename: 'playground.ts', media_type: 'application/typescript' },
  mcp: { write: toFrames, filename: 'playground.jsonl', media_type: 'application/x-ndjson' },
}

const formats = z.enum(['curl', 'typescript', 'mcp']).meta({ id: 'ExportFormat' })
const Input = z.strictObject({
  session: sessionId,
  format: formats.describe(
    'A bash script, a TypeScript file, or JSON-RPC lines for the standard input of mcp.',
  ),
})
const Exported = z.object({
  format: formats,
  filename: z.string(),
  media_type: z.string(),
  text: z.string(),
})

export function exportSession(
  needs: PlaygroundNeeds,
): Action<z.output<typeof Input>, z.infer<typeof Exported>> {
  return defineAction({
    name: 'export_session',
    title: 'Export a session',
    description: 'Writes the calls of a session as a runnable program.',
    input: input(Input),
    output: output(Exported),
    access: 'public',
    effect: 'read',
    advertised: false,
    async run({ session, format }, { principal }) {
      admit(principal)
      const { id } = await needs.sessions.find(session, principal)
      const steps = await allSteps(needs.sessions, id)
      const { write, filename, media_type } = writers[format]
      return { format, filename, media_type, text: write(planOf(id, steps, needs)) }
    },
  })
}

async function allSteps(sessions: Sessions, id: string): Promise<Step[]> {
  const all: Step[] = []
  for (let last = 0; ; last = all.at(-1)?.number ?? last) {
    const page = await sessions.steps(id, last)
    if (page.length === 0) return all
    all.push(...page)
  }
}
