import type { Command } from 'commander'
import { filters } from '../../../schemas/entry-fields.ts'
import type { WantsJson } from './json.ts'

/** Finding, reading and calling agents. */
export function addAgents(program: Command, json: WantsJson): void {
  const search = program
    .command('search')
    .argument('[words...]', 'what the agent should do; without it, all agents')
    .option('--limit <number>', 'how many, 1 to 100', '5')
    .option('--exact', 'search for the words as they are written, without corrections and synonyms')
  for (const { option } of Object.values(filters)) if (option) search.option(...option)
  search
    .description('find agents by intent')
    .action(async (words: string[], options) => (await import('../search.ts')).search(words, options, json()))

  program
    .command('resolve')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--version <version>', 'a version, a range such as ^1.2, or latest')
    .description('print the card of an agent')
    .action(async (agent: string, options) => (await import('../resolve.ts')).resolve(agent, options, json()))

  program
    .command('call')
    .argument('<to>', 'package name, A2A address or id')
    .argument('<action>', 'name of the action')
    .argument(
      '[params...]',
      'its input: fields name=text and name:=json, or a JSON object; @FILE for that of a file, - for standard input',
    )
    .description('call an action of an agent')
    .action(async (to: string, action: string, params: string[]) =>
      (await import('../call.ts')).call(to, action, params),
    )

  program
    .command('list')
    .option('--mine', 'only your own agents')
    .option('--state <state>', 'with --mine: STAGE or ACTIVE')
    .option('--limit <number>', 'how many, 1 to 10000', '50')
    .option('--sort <order>', 'name or newest', 'name')
    .description('list agents')
    .action(async (options) => (await import('../list.ts')).list(options, json()))

  program
    .command('open')
    .argument('[agent]', 'package name, A2A address or id; the gateway itself when left out')
    .option('--print', 'only print the address')
    .description('print the address of the page of an agent, or of the gateway, and open it in the browser')
    .action(async (agent: string | undefined, options) =>
      (await import('../open.ts')).open(agent, options, json()),
    )
}
