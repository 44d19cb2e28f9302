import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

const agent = ['<agent>', 'package name, A2A address or id'] as const
const revision = ['--revision <number>', 'only if the agent is still at this revision'] as const
const file =
  'JSON: manifest_url, or name, description and capabilities, endpoints or packages, or a server.json; - for standard input'

/** The life of an agent: from its file to its end. */
export function addPublishing(program: Command, json: WantsJson): void {
  program
    .command('init')
    .argument('[file]', 'file to write; - for standard output', 'agent.json')
    .option('--package-name <name>', 'name of the agent, such as com.example.weather')
    .option('--name <words>', 'name for people')
    .option('--description <words>', 'what the agent does, in a sentence')
    .option('--endpoint <url>', 'where the agent answers')
    .option(
      '--protocol <protocol>',
      'a2a, mcp or envelope (default: mcp for an address that ends in /mcp or /sse, else a2a)',
    )
    .option('--manifest <url>', "address of the agent's own card, instead of an endpoint")
    .option('--tag <tag...>', 'tags')
    .option('--force', 'replace the file if it is there')
    .description('write a file that describes an agent, to complete and publish')
    .action(async (path: string, options) => (await import('../init.ts')).init(path, options, json()))

  const load = () => import('../life-cycle.ts')
  program
    .command('publish')
    .argument('<file>', file)
    .option('--live', 'go live at once')
    .description('create an agent, in STAGE')
    .action(async (path: string, options) => (await load()).publish(path, options, json()))

  program
    .command('update')
    .argument(...agent)
    .argument('<file>', 'JSON with the fields to change; - for standard input')
    .option(...revision)
    .description('change the given fields of an agent')
    .action(async (name: string, path: string, options) => (await load()).update(name, path, options, json()))

  program
    .command('go-live')
    .argument(...agent)
    .option(...revision)
    .description('list an agent for everybody: STAGE to ACTIVE')
    .action(async (name: string, options) => (await load()).goLive(name, options, json()))

  program
    .command('unpublish')
    .argument(...agent)
    .option(...revision)
    .description('take an agent out of the public lists: ACTIVE to STAGE')
    .action(async (name: string, options) => (await load()).unpublish(name, options, json()))

  program
    .command('deprecate')
    .argument(...agent)
    .option('--message <words>', 'why, or what to do instead; everybody sees it')
    .option('--successor <agent>', 'the agent that replaces it')
    .option('--undo', 'withdraw the deprecation')
    .option(...revision)
    .description('mark an agent as not for new use; it still answers')
    .action(async (name: string, options) => (await load()).deprecate(name, options, json()))

  program
    .command('delete')
    .argument(...agent)
    .option('--yes', 'delete without asking')
    .option(...revision)
    .description('delete an agent; its name stays reserved for its owner')
    .action(async (name: string, options) => (await load()).remove(name, options, json()))

  addVersions(program, json)
}

function addVersions(program: Command, json: WantsJson): void {
  const load = () => import('../versions.ts')
  program
    .command('versions')
    .argument(...agent)
    .option('--limit <number>', 'how many, 1 to 100', '20')
    .description('list the versions of an agent, the highest first')
    .action(async (name: string, options) => (await load()).versions(name, options, json()))

  program
    .command('diff')
    .argument(...agent)
    .argument('<from>', 'a version, or r12 for revision 12')
    .argument('[to]', 'the version to compare with; the current one when absent')
    .description('show the fields that differ between two versions of an agent')
    .action(async (name: string, from: string, to?: string) => (await load()).diff(name, from, to, json()))
}
