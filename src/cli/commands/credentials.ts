import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** Access tokens and API keys. */
export function addCredentials(program: Command, json: WantsJson): void {
  const token = program.command('token').description('access tokens')

  token
    .command('create')
    .option(
      '--sub <name>',
      'subject of the token; the person at this machine when left out, with DRAGOMAN_URL the caller',
    )
    .option('--scope <scope...>', 'what it allows; all but admin when left out')
    .option('--namespace <prefix...>', 'name prefixes that it may create under and take live')
    .option('--ttl <time>', 'lifetime: 900s, 12h, 30d', '30d')
    .description('print a new token, or with DRAGOMAN_URL a credential of that gateway')
    .action(async (options) => (await import('../token.ts')).createToken(options, json()))

  token
    .command('revoke')
    .argument('[token]', 'the token, or its id (jti)')
    .option('--sub <name>', 'all tokens and API keys that were issued to this subject until now')
    .option('--issuer <issuer>', 'issuer of the id or the subject; this gateway when left out')
    .option('--reason <words>', 'reason, for the record')
    .description('revoke a token, or all that was issued to a subject')
    .action(async (tokenOrId: string | undefined, options) =>
      (await import('../token.ts')).revokeToken(tokenOrId, options, json()),
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
    .action(async (options) => (await import('../apikey.ts')).createApiKey(options, json()))

  apikey
    .command('list')
    .description('list API keys, without their secrets')
    .action(async () => (await import('../apikey.ts')).listApiKeys(json()))

  apikey
    .command('delete')
    .argument('<id>', 'drg_XXXXXXXX')
    .description('revoke an API key and the tokens obtained with it')
    .action(async (id: string) => (await import('../apikey.ts')).deleteApiKey(id, json()))
}

/** The credentials of the caller for agents. */
export function addAgentCredentials(program: Command, json: WantsJson): void {
  const credentials = program
    .command('credentials')
    .description('your credentials for agents, and sign-ins to them')

  credentials
    .command('list')
    .description('list the agents for which you have stored a credential, or to which you have signed in')
    .action(async () => (await import('../credentials.ts')).listCredentials(json()))

  credentials
    .command('set')
    .argument('<agent>', 'its package name')
    .argument('[file]', 'file that holds the secret; - for standard input; asked for when left out')
    .description('store a secret that an agent asks for, such as an API key')
    .option('--header <name>', 'header that carries it; the one that the agent requires when left out')
    .option('--variable <name>', 'variable of a package, in place of a header')
    .action(async (agent: string, file: string | undefined, options) =>
      (await import('../credentials.ts')).setCredential(agent, file, options, json()),
    )

  credentials
    .command('connect')
    .argument('<agent>', 'its package name')
    .description('print the address at which you sign in to an agent, in a browser')
    .action(async (agent: string) => (await import('../credentials.ts')).connectAgent(agent, json()))

  credentials
    .command('forget')
    .argument('<agent>', 'its package name')
    .description('delete your credential for an agent, and end the tokens of a sign-in')
    .action(async (agent: string) => (await import('../credentials.ts')).forgetAgent(agent, json()))
}

/** What owners use, and their limits. */
export function addQuotas(program: Command, json: WantsJson): void {
  const selecting = (command: Command) =>
    command
      .option('--sub <name>', 'subject of the owner')
      .option('--issuer <issuer>', "issuer of those tokens; this gateway's own when left out")
      .option('--namespace <prefix>', 'a claimed namespace instead of an owner')

  selecting(program.command('usage'))
    .description('print how much of each quota you use, or as an admin others use')
    .action(async (options) => (await import('../quota.ts')).showUsage(options, json()))

  const quota = program.command('quota').description('limits of what owners may store')
  quota
    .command('list')
    .option('--limit <number>', 'how many owners and namespaces, 1 to 10000', '20')
    .description('list owners and namespaces, the nearest to a limit first, as an admin')
    .action(async (options) => (await import('../quota.ts')).listQuotas(options, json()))

  selecting(quota.command('set'))
    .argument('<quota>', 'entries, stage_entries, bytes or versions_per_day')
    .argument('<limit>', 'a number, or standard')
    .description('set a limit of an owner or a namespace, as an admin')
    .action(async (name: string, limit: string, options) =>
      (await import('../quota.ts')).setQuota(name, limit, options, json()),
    )
}

/** Signing keys. */
export function addKeys(program: Command, json: WantsJson): void {
  const keys = program.command('keys').description('signing keys of the data folder')

  keys
    .command('list')
    .description('list the signing keys')
    .action(async () => (await import('../keys.ts')).listKeys(json()))

  keys
    .command('rotate')
    .description('add a signing key: published at once, signing after five minutes')
    .action(async () => (await import('../keys.ts')).rotateKeys(json()))

  keys
    .command('replace')
    .description('make the keys of this folder those of the registry, after its own were lost')
    .action(async () => (await import('../keys.ts')).replaceLostKeys(json()))

  keys
    .command('revoke')
    .argument('<kid>', 'of the key')
    .option('--reason <words>', 'reason, for the record')
    .description('revoke a signing key and every token that it signed')
    .action(async (kid: string, options) =>
      (await import('../keys.ts')).revokeKey(kid, options.reason, json()),
    )
}
