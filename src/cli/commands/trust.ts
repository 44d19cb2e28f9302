import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** The commands for validation, verification, ownership, moderation, calls and the audit log. */
export function addTrustCommands(program: Command, json: WantsJson): void {
  const load = () => import('../trust.ts')

  program
    .command('validate')
    .argument(
      '<what>',
      'URL of a card, or a file with a card, a publication or a server.json; - for standard input',
    )
    .description(
      'say what is wrong with a card, a publication or a server.json; exit code 1 where it cannot be listed',
    )
    .action(async (what: string) => (await load()).validate(what, json()))

  for (const [name, description] of [
    ['verify', 'prove the domain of an agent, or print what to publish'],
    ['claim', 'become the owner of an agent that has no proved owner, by proving its domain'],
  ] as const) {
    program
      .command(name)
      .argument('<agent>', 'package name, A2A address or id')
      .option('--domain <domain>', 'the domain to prove, where the name allows several')
      .option('--method <method>', 'dns, http or mcp; all of them when left out')
      .option('--signature <text>', "for mcp: by the record's key, base64 or hex")
      .description(description)
      .action(async (agent: string, options) => (await load()).prove(name, agent, options, json()))
  }

  program
    .command('transfer')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--to <subject>', 'token subject of the new owner; whoami prints it, with the issuer')
    .option('--issuer <issuer>', 'issuer of those tokens; that of your own when left out')
    .option('--withdraw', 'end the offer')
    .description('offer an agent to another owner; as an admin, transfer it at once')
    .action(async (agent: string, options) => (await load()).transfer(agent, options, json()))

  program
    .command('accept-transfer')
    .argument('<agent>', 'package name, A2A address or id')
    .description('become the owner of an agent that is offered to you')
    .action(async (agent: string) => (await load()).acceptTransfer(agent, json()))

  program
    .command('transfers')
    .option('--made', 'the offers of your own agents')
    .description('list the agents that are offered to you')
    .action(async (options) => (await load()).listTransfers(options, json()))

  program
    .command('suspend')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--reason <words>', 'why; its owner sees it; not needed with --lift')
    .option('--lift', 'lift the suspension')
    .description('hide an agent from every public view, as an admin')
    .action(async (agent: string, options) => (await load()).suspend(agent, options, json()))

  program
    .command('suspended')
    .option('--removed', 'the agents that mirrors hide, because their sources removed them')
    .option('--limit <number>', 'how many agents, 1 to 10000', '20')
    .description('list the suspended agents, the newest suspension first, as an admin')
    .action(async (options) => (await load()).listSuspensions(options, json()))

  program
    .command('report')
    .argument('<agent>', 'package name, A2A address or id')
    .requiredOption('--reason <word>', 'malicious, impersonation, misleading, broken or other')
    .option('--detail <words>', 'what was seen, and where')
    .description('report a problem to the owner and the admins')
    .action(async (agent: string, options) => (await load()).report(agent, options, json()))

  program
    .command('calls')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--days <number>', 'how many days, up to today', '30')
    .description('print how often your agent was called on each day')
    .action(async (agent: string, options) => (await load()).calls(agent, options, json()))

  program
    .command('audit')
    .argument('[agent]', 'package name, A2A address or id; as an admin, all agents when left out')
    .option('--action <name>', 'of all agents, the events of one action, such as report or suspend')
    .option('--limit <number>', 'how many events, 1 to 10000', '20')
    .description('print the audit log of an agent, or of all agents, newest first')
    .action(async (agent: string | undefined, options) => (await load()).audit(agent, options, json()))
}
