import { Console } from 'node:console'
import { CommanderError } from 'commander'
import { Failure } from '../../schemas/failure.ts'
import { fail, usageError } from './output.ts'
import { createProgram } from './program.ts'

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  // Whatever this process or a library in it writes is for the user of the process alone.
  process.umask(0o077)
  // Standard output is for data and for messages of MCP, not for what a library reports.
  globalThis.console = new Console(process.stderr)
  // The reader of our output may stop reading, as `head` does.
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code === 'EPIPE') process.exit(0)
    console.error(`The output cannot be written: ${fault.message}.`)
    process.exit(1)
  })
  await main(process.argv.slice(2))
}

/** Runs one command line to its end and sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  // Commander may refuse the command line before it has read the option.
  const json = args.includes('--json')
  const program = createProgram({ errors: !json })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) fail(await explained(thrown), json)
    else if (thrown.exitCode === 0) process.exitCode = 0
    else refuse(thrown, json)
  }
}

/** Errors of files and of the database say which file it is and what to do. */
async function explained(thrown: unknown): Promise<unknown> {
  if (thrown instanceof Failure) return thrown
  const { readConfig } = await import('../app/config.ts')
  const { startFailure } = await import('../app/start-failure.ts')
  try {
    return startFailure(thrown, readConfig())
  } catch {
    return thrown
  }
}

/** Sets the exit code for a command line that commander refused; commander has printed the reason as text. */
function refuse({ code, message }: CommanderError, json: boolean): void {
  process.exitCode = usageError
  if (!json || code === 'commander.help') return
  fail(new Failure('invalid_request', message.replace(/^error: /, '').replaceAll('\n', ' ')), json)
}
