import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { ImportReport } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  lines: z.array(z.string().max(500_000)).min(1).max(500).describe('JSON documents, one per line.'),
  first_line: z.int().min(1).default(1).describe('Number of the first line, for the report.'),
})
export function importEntries(registry: RegistryPort): Action<z.output<typeof Input>, ImportReport> {
  return defineAction({
    name: 'import_entries',
    title: 'Import entries',
    description:
      'Lists agents from JSON lines: A2A agent cards, MCP servers as MCP registries list them {server, _meta}, or MCP servers {packageName, name, description, url, runtime, tools}. Importing the same again changes nothing.',
    input: input(Input),
    output: output(ImportReport),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    deadline_ms: 60_000,
    run: ({ lines, first_line }, { principal }) => registry.importLines(lines, first_line, principal),
  })
}
