import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import type { ImportReport, RegistryPort } from './port.ts'

const Input = z.strictObject({
  lines: z.array(z.string().max(500_000)).min(1).max(500).describe('JSON documents, one per line.'),
  first_line: z.int().min(1).default(1).describe('Number of the first line, for the report.'),
})
const Output = z.object({
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  rejected: z.array(z.object({ line: z.int(), reason: z.string() })),
})

export function importEntries(registry: RegistryPort): Action<z.output<typeof Input>, ImportReport> {
  return defineAction({
    name: 'import_entries',
    title: 'Import entries',
    description:
      'Lists agents from JSON lines: A2A agent cards, MCP servers as MCP registries list them {server, _meta}, or MCP servers {packageName, name, description, url, runtime, tools}. Importing the same again changes nothing.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    deadline_ms: 60_000,
    run: ({ lines, first_line }, { principal }) => registry.importLines(lines, first_line, principal),
  })
}
