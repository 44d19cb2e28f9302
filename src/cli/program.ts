import { Command } from 'commander'
import { Failure } from '../../schemas/failure.ts'
import { nearest } from '../../schemas/nearest.ts'
import { version } from '../app/assets.ts'
import { addAgents } from './commands/agents.ts'
import { addAgentCredentials, addCredentials, addKeys, addQuotas } from './commands/credentials.ts'
import { addData, addExtras, addIndex, addMirrors } from './commands/data.ts'
import { addFollowing } from './commands/following.ts'
import { addInstalling } from './commands/install.ts'
import { addPackages } from './commands/packages.ts'
import { addPublishing } from './commands/publishing.ts'
import { addServing } from './commands/serving.ts'
import { addSignIn } from './commands/sign-in.ts'
import { addTrustCommands } from './commands/trust.ts'
import { commandsOf } from './commands/walk.ts'
import { examples } from './examples.ts'
import { asTyped, invocation } from './invocation.ts'
import { print } from './output.ts'

/** Commands that run until they are stopped, or print a script: they have no data to print as JSON. */
const withoutData = new Set(['mcp', 'connect', 'completion'])

/** What people who know other tools type, and what it is called here. */
const synonyms: Readonly<Record<string, string>> = {
  add: 'publish',
  backup: 'export',
  edit: 'update',
  find: 'search',
  get: 'resolve',
  info: 'resolve',
  log: 'audit',
  ls: 'list',
  register: 'publish',
  remove: 'delete',
  restore: 'import',
  rm: 'delete',
  show: 'resolve',
  start: 'serve',
  stats: 'calls',
  status: 'doctor',
}

/** The whole command line. `errors`: print what is wrong with a command line as text. */
export function createProgram({ errors }: { readonly errors: boolean }): Command {
  const program = new Command(invocation())
    .description('The registry of software agents that speaks every protocol agents speak.')
    .version(version)
    // Else `resolve NAME --version 1.2` prints the version of this program.
    .enablePositionalOptions()
    .option('--json', 'print data as JSON')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => errors && write(text) })
  const json = () => program.opts().json === true
  program.commandsGroup('Run a gateway:')
  addServing(program)
  program.commandsGroup('Find and call agents:')
  addAgents(program, json)
  addInstalling(program, json)
  program.commandsGroup('Run packages:')
  addPackages(program, json)
  program.commandsGroup('Publish agents:')
  addPublishing(program, json)
  program.commandsGroup('Follow agents:')
  addFollowing(program, json)
  program.commandsGroup('Prove, transfer, moderate:')
  addTrustCommands(program, json)
  program.commandsGroup('Fill a registry:')
  addData(program, json)
  addMirrors(program, json)
  addIndex(program, json)
  addExtras(program, json)
  program.commandsGroup('Sign-in, credentials, quotas:')
  addSignIn(program, json)
  addCredentials(program, json)
  addAgentCredentials(program, json)
  addKeys(program, json)
  addQuotas(program, json)
  program.commandsGroup('Help:')
  program
    .command('doctor')
    .description('check the configuration and the data')
    .option('--settings', 'describe every setting')
    .action(async ({ settings = false }) => (await import('./doctor.ts')).doctor(settings, json()))
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('print a script that completes commands and options in a shell')
    .action(async (shell: string) =>
      print((await import('./completion.ts')).completionScript(shell, program)),
    )

  suggestCommands(program)
  for (const { path, command } of commandsOf(program)) {
    addExamples(command, examples[path] ?? [])
    if (errors) command.showHelpAfterError(asTyped(helpOf(path)))
    if (command.commands.length > 0) suggestCommands(command)
    else if (!withoutData.has(path)) {
      // --json is accepted after the command too.
      command
        .option('--json', 'print data as JSON')
        .on('option:json', () => program.setOptionValue('json', true))
    }
  }
  return program
}

/** What to do after an error of the command line. People expect options of `serve` for its settings, such as `--port`. */
function helpOf(path: string): string {
  if (path === 'serve')
    return 'It takes settings instead of options: PORT=9000 dragoman serve. To list them: dragoman doctor --settings'
  const help = `dragoman ${path} --help shows its arguments and options, with examples.`
  return path === 'search'
    ? `A word to leave out stands in quotes: dragoman search "weather -google". ${help}`
    : help
}

function addExamples(command: Command, lines: readonly string[]): void {
  if (lines.length > 0)
    command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${asTyped(line)}`).join('\n')}`)
}

/** Refuses an unknown command with the names that are close to it. */
function suggestCommands(parent: Command): void {
  parent.on('command:*', ([name = '']: string[]) => {
    const names = parent.commands.map((command) => command.name())
    const synonym = synonyms[name]
    const close = nearest(name, names)
    const suggested = synonym !== undefined && names.includes(synonym) ? [synonym] : close
    throw new Failure('invalid_request', `There is no command ${name}.`, {
      ...(suggested.length > 0 && { nearest: suggested }),
      hint: `${[...wordsOf(parent), '--help'].join(' ')} lists the commands.`,
    })
  })
}

function wordsOf(command: Command): string[] {
  return command.parent ? [...wordsOf(command.parent), command.name()] : [command.name()]
}
