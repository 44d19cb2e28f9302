import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** Signing in at a gateway, and out. */
export function addSignIn(program: Command, json: WantsJson): void {
  program
    .command('login')
    .argument('[url]', 'the gateway; without it, a link for the browser to the gateway on this machine')
    .option('--no-browser', 'print the address only')
    .description('sign in at a gateway, to which commands talk from then on')
    .action(async (url: string | undefined, options) =>
      (await import('../sign-in/sign-in.ts')).logIn(url, options, json()),
    )

  program
    .command('logout')
    .argument('[url]', 'the gateway; the one that commands talk to when left out')
    .description('sign out at a gateway')
    .action(async (url: string | undefined) => (await import('../sign-in/sign-in.ts')).logOut(url, json()))

  program
    .command('whoami')
    .description('print who you are to the gateway, and which gateway commands use')
    .action(async () => (await import('../sign-in/sign-in.ts')).whoAmI(json()))
}
