import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** Which packages the gateway may run. */
export function addPackages(program: Command, json: WantsJson): void {
  const load = () => import('../allow.ts')
  const collect = (value: string, all: string[] = []) => [...all, value]

  program
    .command('allow')
    .argument('<agent>', 'package name, with @VERSION for a package that states none')
    .argument('[arguments...]', 'arguments of the package after those that it states; write -- before them')
    .option('--host <host>', 'host that it may reach; may be given again', collect)
    .option('--env <name=value>', 'variable; @FILE or - reads the value; may be given again', collect)
    .option('--arg <name=value>', 'argument that it states; may be given again', collect)
    .option('--scripts', 'run its install scripts')
    .option('-y, --yes', 'do not ask')
    .description('let this gateway run the package of an agent, in a sandbox')
    .action(async (agent: string, more: string[], options) =>
      (await load()).allow(agent, more, options, json()),
    )

  program
    .command('allowed')
    .description('list the packages that this gateway may run')
    .action(async () => (await load()).listAllowed(json()))

  program
    .command('disallow')
    .argument('<agent>', 'package name')
    .description('stop the package of an agent, and delete its approval and its secrets')
    .action(async (agent: string) => (await load()).disallow(agent, json()))
}
