import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { HostId, InstallConfig } from '../../schemas/install.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  host: HostId.optional().describe('The program that gets the server; all of them when absent.'),
  target: z
    .string()
    .regex(
      /^(remote|package|gateway)(-\d{1,2})?$/,
      'Give remote, package or gateway; the second remote is remote-2.',
    )
    .optional()
    .describe('What to install: remote, package or gateway; everything that can be when absent.'),
})

export function installConfig(registry: RegistryPort): Action<z.output<typeof Input>, InstallConfig> {
  return defineAction({
    name: 'install_config',
    title: 'Get the configuration that installs an agent',
    description:
      'What to paste or to run so that a host such as VS Code, Cursor or Claude Code uses an agent: the piece of its configuration file, a command line and a link. Secrets are prompts or variables.',
    input: input(Input),
    output: output(InstallConfig),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ agent, ...query }, { principal }) => registry.installConfig(agent, query, principal),
  })
}
