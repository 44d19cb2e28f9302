import type { Command } from 'commander'
import { hostIds } from '../../../schemas/install.ts'
import type { WantsJson } from './json.ts'

/** The command that gives agents to the hosts of this machine. */
export function addInstalling(program: Command, json: WantsJson): void {
  program
    .command('install')
    .argument('[agent]', 'package name, A2A address or id; this gateway itself when left out')
    .requiredOption('--host <host>', `the program: ${hostIds.join(', ')}`)
    .option('--target <target>', 'remote, package or gateway; the first that the host can run when left out')
    .option('--scope <scope>', "user, or project for the host's file in this folder", 'user')
    .option('--name <name>', 'name of the server in the file')
    .option('--dry-run', 'show the change and write nothing')
    .option('--remove', 'remove the server from the file, if it is what the agent installs')
    .option('--replace', 'replace another server of the same name, or remove it')
    .option('--yes', 'write without asking')
    .option('--manage', 'for this gateway itself: let the model publish, change and delete what you own')
    .description("give an agent to a host: show the change of the host's file, and write it")
    .action(async (agent: string | undefined, options) =>
      (await import('../install.ts')).install(agent, options, json()),
    )
}
