import { Command, CommanderError } from 'commander'
import { filters } from '../../schemas/entry-fields.ts'
import { version } from '../app/assets.ts'
import { addInstalling } from './install-command.ts'
import { fail, usageError } from './output.ts'
import { addTrustCommands } from './trust-commands.ts'

/** Whether the caller asked for JSON, known once the command line is parsed. */
type Json = () => boolean

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  // Whatever this process or a library in it writes is for the user of the process alone.
  process.umask(0o077)
  // The reader of our output may stop reading, as `head` does.
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault
    process.exit(0)
  })
  await main(process.argv.slice(2))
}

/** Runs one command line to its end and sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  const program = createProgram()
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? 0 : usageError
    else fail(thrown, program.opts().json === true)
  }
}

function createProgram(): Command {
  const program = new Command('dragoman')
    .description('The registry of software agents that speaks every protocol agents speak.')
    .version(version)
    .option('--json', 'print data as JSON')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text) })
  const json: Json = () => program.opts().json === true
  addServing(program, json)
  addData(program, json)
  addMirrors(program, json)
  addAgents(program, json)
  addInstalling(program, json)
  addCredentials(program, json)
  addKeys(program, json)
  addQuotas(program, json)
  addTrustCommands(program, json)
  program
    .command('doctor')
    .description('check the configuration and the data, and list every setting')
    .action(async () => (await import('./doctor.ts')).doctor(json()))

  // --json is accepted after the command too.
  for (const command of [...program.commands, ...program.commands.flatMap((parent) => parent.commands)]) {
    command.exitOverride()
    command
      .option('--json', 'print data as JSON')
      .on('option:json', () => program.setOptionValue('json', true))
  }
  return program
}

/** Ways to run the gateway, or to reach one. */
function addServing(program: Command, json: Json): void {
  program
    .command('serve')
    .description('run the gateway: REST, envelopes, JSON-RPC, MCP')
    .action(async () => (await import('./serve.ts')).serve(json()))

  program
    .command('mcp')
    .option('--manage', 'let the model publish, change and delete what you own; never with admin rights')
    .description('serve MCP over standard input and output, for an MCP host to start')
    .action(async (options) => (await import('./mcp.ts')).mcp(options))

  program
    .command('connect')
    .argument('<url>', 'an MCP endpoint: ws, wss, http or https')
    .option('--token <token>', 'who calls; DRAGOMAN_TOKEN when left out')
    .option('--header <name=value>', 'sent along; may be given again', (header, all: string[] = []) => [
      ...all,
      header,
    ])
    .description('bridge an MCP host that starts its servers to an endpoint elsewhere')
    .action(async (url: string, options) => (await import('./connect.ts')).connect(url, options))
}

/** Whole lists and registries. */
function addData(program: Command, json: Json): void {
  program
    .command('import')
    .argument('<file>', 'JSON lines: A2A agent cards, or MCP servers; or what export wrote')
    .option('--replace', 'for an export: delete what the store holds now')
    .description('list agents from a file, where doing it again changes nothing; or take in a whole registry')
    .action(async (file: string, { replace = false }) => {
      const { isExport, restore } = await import('./restore.ts')
      if (await isExport(file)) return await restore(file, replace, json())
      await (await import('./import.ts')).importFile(file, json())
    })

  program
    .command('export')
    .argument('<file>', 'where to; it holds what only the operator may read')
    .description('write the whole registry to a file, for import into another store')
    .action(async (file: string) => (await import('./export.ts')).exportRegistry(file, json()))
}

/** Other registries and lists whose agents are listed here. */
function addMirrors(program: Command, json: Json): void {
  const mirror = program.command('mirror').description('other registries whose agents are listed here')

  mirror
    .command('add')
    .argument('<source>', 'the word official, or the URL of a registry, a catalog or a list')
    .option('--name <name>', 'name of the mirror; made from the source when left out')
    .option('--kind <kind>', 'mcp-registry, ard, cards or lines; found out when left out')
    .option('--every <time>', 'time between two runs: 30m, 1h, 1d', '1h')
    .option('--filter <word...>', 'latest, remote, package, or patterns of names such as io.github.*')
    .option('--license <words>', 'licence of the texts of the source')
    .option('--attribution <words>', 'whom to name when the texts are used')
    .option('--takedown <address>', 'where the source takes requests to remove an agent')
    .description('list the agents of another registry here, and follow its changes')
    .action(async (source: string, options) =>
      (await import('./mirror.ts')).addMirror(source, options, json()),
    )

  mirror
    .command('list')
    .description('list the mirrors with their last runs')
    .action(async () => (await import('./mirror.ts')).listMirrors(json()))

  mirror
    .command('run')
    .argument('<name>', 'of the mirror')
    .description('run a mirror now and wait for its end')
    .action(async (name: string) => (await import('./mirror.ts')).runMirror(name, json()))

  mirror
    .command('remove')
    .argument('<name>', 'of the mirror')
    .description('remove a mirror and the agents that it listed, except those with an owner here')
    .action(async (name: string) => (await import('./mirror.ts')).removeMirror(name, json()))
}

/** Finding, reading, calling and publishing agents. */
function addAgents(program: Command, json: Json): void {
  const search = program
    .command('search')
    .argument('[words...]', 'what the agent should do; without it, all agents')
    .option('--limit <number>', 'how many', '5')
  for (const { option } of Object.values(filters)) if (option) search.option(...option)
  search
    .description('find agents by intent')
    .action(async (words: string[], options) => (await import('./search.ts')).search(words, options, json()))

  program
    .command('resolve')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--version <version>', 'a version, a range such as ^1.2, or latest')
    .description('print the card of an agent')
    .action(async (agent: string, options) => (await import('./resolve.ts')).resolve(agent, options, json()))

  program
    .command('call')
    .argument('<to>', 'package name, A2A address or id')
    .argument('<action>', 'name of the action')
    .argument('[params]', 'its input, a JSON object', '{}')
    .description('call an action of an agent')
    .action(async (to: string, action: string, params: string) =>
      (await import('./call.ts')).call(to, action, params),
    )

  program
    .command('publish')
    .argument('<file>', 'JSON: manifest_url, or name, description and capabilities or endpoints')
    .option('--live', 'go live at once')
    .description('create an agent, in STAGE')
    .action(async (file: string, options) => (await import('./publish.ts')).publish(file, options, json()))
}

/** Access tokens and API keys. */
function addCredentials(program: Command, json: Json): void {
  const token = program.command('token').description('access tokens')

  token
    .command('create')
    .requiredOption('--sub <name>', 'subject of the token')
    .option('--scope <scope...>', 'what it allows; all but admin when left out')
    .option('--namespace <prefix...>', 'name prefixes that it may create under and take live')
    .option('--ttl <time>', 'lifetime: 900s, 12h, 30d', '30d')
    .description('print a new token')
    .action(async (options) => (await import('./token.ts')).createToken(options, json()))

  token
    .command('revoke')
    .argument('<token>', 'the token, or its id (jti)')
    .option('--reason <words>', 'reason, for the record')
    .description('revoke a token')
    .action(async (tokenOrId: string, options) =>
      (await import('./token.ts')).revokeToken(tokenOrId, options.reason, json()),
    )

  const apikey = program.command('apikey').description('long-lived API keys')

  apikey
    .command('create')
    .option('--sub <name>', 'whom the key stands for, in the data folder; the operator when left out')
    .option('--label <words>', 'what it is for')
    .option('--scope <scope...>', 'what it allows; all but admin when left out')
    .option('--namespace <prefix...>', 'name prefixes that it may create under and take live')
    .option('--ttl <time>', 'lifetime: 12h, 30d, at most 365d', '90d')
    .description('create an API key and print it once')
    .action(async (options) => (await import('./apikey.ts')).createApiKey(options, json()))

  apikey
    .command('list')
    .description('list API keys, without their secrets')
    .action(async () => (await import('./apikey.ts')).listApiKeys(json()))

  apikey
    .command('delete')
    .argument('<id>', 'drg_XXXXXXXX')
    .description('revoke an API key and the tokens obtained with it')
    .action(async (id: string) => (await import('./apikey.ts')).deleteApiKey(id, json()))
}

/** What owners use, and their limits. */
function addQuotas(program: Command, json: Json): void {
  const selecting = (command: Command) =>
    command
      .option('--sub <name>', 'subject of the owner')
      .option('--issuer <issuer>', "issuer of those tokens; this gateway's own when left out")
      .option('--namespace <prefix>', 'a claimed namespace instead of an owner')

  selecting(program.command('usage'))
    .description('print what is used of each quota: yours, or as an admin that of others')
    .action(async (options) => (await import('./quota.ts')).showUsage(options, json()))

  const quota = program.command('quota').description('limits of what owners may store')
  selecting(quota.command('set'))
    .argument('<quota>', 'entries, stage_entries, bytes or versions_per_day')
    .argument('<limit>', 'a number, or standard')
    .description('set a limit of an owner or a namespace, as an admin')
    .action(async (name: string, limit: string, options) =>
      (await import('./quota.ts')).setQuota(name, limit, options, json()),
    )
}

/** Signing keys. */
function addKeys(program: Command, json: Json): void {
  const keys = program.command('keys').description('signing keys of the data folder')

  keys
    .command('list')
    .description('list the signing keys')
    .action(async () => (await import('./keys.ts')).listKeys(json()))

  keys
    .command('rotate')
    .description('add a signing key: published at once, signing after five minutes')
    .action(async () => (await import('./keys.ts')).rotateKeys(json()))

  keys
    .command('revoke')
    .argument('<kid>', 'of the key')
    .option('--reason <words>', 'reason, for the record')
    .description('revoke a signing key and every token that it signed')
    .action(async (kid: string, options) =>
      (await import('./keys.ts')).revokeKey(kid, options.reason, json()),
    )
}
