import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** Following agents: their liveness, their changes, and webhooks for these. */
export function addFollowing(program: Command, json: WantsJson): void {
  program
    .command('check')
    .argument('<agent>', 'package name, A2A address or id')
    .option('--days <number>', 'instead, what the probes of each of the last days found')
    .description('probe an agent now; exit code 1 where it does not answer')
    .action(async (agent: string, { days }: { readonly days?: string }) => {
      const { check, showDays } = await import('../check.ts')
      await (days === undefined ? check(agent, json()) : showDays(agent, days, json()))
    })

  program
    .command('watch')
    .option('--agent <agent>', 'only changes of this agent: its package name, A2A address or id')
    .option('--since <revision>', 'the last revision that you have; 0 for all; now when left out')
    .option('--until <revision>', 'end at this revision; never when left out')
    .description('print the changes of the registry as they happen, until Ctrl+C')
    .action(async (options) => (await import('../watch.ts')).watch(options, json()))

  addWebhooks(program, json)
}

function addWebhooks(program: Command, json: WantsJson): void {
  const load = () => import('../webhooks.ts')
  const webhooks = program.command('webhooks').description('signed posts of changes to your address')
  const kinds = ['--kind <kind...>', 'listed, unlisted, deleted or liveness; all when left out'] as const

  webhooks
    .command('create')
    .argument('<url>', 'the address to which the changes are posted')
    .option(...kinds)
    .option('--mine', 'only changes of your own agents')
    .option('--since <revision>', 'the last revision that you have; 0 for all; now when left out')
    .description('create a webhook, and print its secret once')
    .action(async (url: string, options) => (await load()).createWebhook(url, options, json()))

  webhooks
    .command('list')
    .description('list your webhooks')
    .action(async () => (await load()).listWebhooks(json()))

  webhooks
    .command('get')
    .argument('<id>', 'of the webhook')
    .description('print a webhook with its last deliveries')
    .action(async (id: string) => (await load()).getWebhook(id, json()))

  webhooks
    .command('update')
    .argument('<id>', 'of the webhook')
    .option('--url <url>', 'the address to which the changes are posted')
    .option(...kinds)
    .option('--mine', 'only changes of your own agents')
    .option('--all', 'changes of all agents')
    .option('--enable', 'deliver again, and retry at once')
    .option('--disable', 'deliver nothing for now')
    .description('change a webhook')
    .action(async (id: string, options) => (await load()).updateWebhook(id, options, json()))

  webhooks
    .command('delete')
    .argument('<id>', 'of the webhook')
    .description('delete a webhook')
    .action(async (id: string) => (await load()).deleteWebhook(id, json()))
}
