import type { Command } from 'commander'
import type { WantsJson } from './json.ts'

/** Whole lists and registries. */
export function addData(program: Command, json: WantsJson): void {
  program
    .command('import')
    .argument(
      '<file>',
      'JSON lines: A2A agent cards, or MCP servers; or what export wrote; - for standard input',
    )
    .option('--replace', 'for an export: delete what the store holds now')
    .description('list agents from a file, where a repeat changes nothing; or restore an export')
    .action(async (file: string, { replace = false }) =>
      (await import('../import.ts')).importLines(file, replace, json()),
    )

  program
    .command('export')
    .argument('<file>', 'where to; it holds what only the operator may read')
    .description('write the whole registry to a file, for import into another store')
    .action(async (file: string) => (await import('../export.ts')).exportRegistry(file, json()))
}

/** The index that a search engine holds. */
export function addIndex(program: Command, json: WantsJson): void {
  program
    .command('index')
    .description('the search index, where a search engine holds it')
    .command('rebuild')
    .description(
      'fill a new index of a search engine from the database while the old one serves, then replace the old one',
    )
    .action(async () => (await import('../rebuild-index.ts')).rebuildIndex(json()))
}

/** Parts that most gateways do not need. */
export function addExtras(program: Command, json: WantsJson): void {
  const extras = program
    .command('extras')
    .description('optional parts that are not installed with the gateway')

  extras
    .command('add')
    .argument('<name>', 'lance, for vectors on disk, or transformers, for sentence models')
    .description('install an optional part with npm, into the folder of extras')
    .action(async (name: string) => (await import('../extras.ts')).addExtra(name, json()))

  extras
    .command('list')
    .description('list the optional parts, and where they are installed')
    .action(async () => (await import('../extras.ts')).listExtras(json()))
}

/** Other registries and lists whose agents are listed here. */
export function addMirrors(program: Command, json: WantsJson): void {
  const mirror = program.command('mirror').description('other registries whose agents are listed here')

  mirror
    .command('add')
    .argument('<source>', 'the word official, or the URL of a registry, a catalog or a list')
    .option('--name <name>', 'name of the mirror; made from the source when left out')
    .option('--kind <kind>', 'mcp-registry, ard, cards or lines; detected when left out')
    .option('--every <time>', 'time between two runs: 30m, 1h, 1d', '1h')
    .option('--filter <word...>', 'latest, remote, package, or patterns of names such as io.github.*')
    .option('--license <words>', 'licence of the texts of the source')
    .option('--attribution <words>', 'whom to name when the texts are used')
    .option('--takedown <address>', 'where the source takes requests to remove an agent')
    .description('list the agents of another registry here, and follow its changes')
    .action(async (source: string, options) =>
      (await import('../mirror.ts')).addMirror(source, options, json()),
    )

  mirror
    .command('list')
    .description('list the mirrors with their last runs')
    .action(async () => (await import('../mirror.ts')).listMirrors(json()))

  mirror
    .command('run')
    .argument('<name>', 'of the mirror')
    .description('run a mirror now and wait for its end')
    .action(async (name: string) => (await import('../mirror.ts')).runMirror(name, json()))

  mirror
    .command('remove')
    .argument('<name>', 'of the mirror')
    .description('remove a mirror and the agents that it listed, except those with an owner here')
    .action(async (name: string) => (await import('../mirror.ts')).removeMirror(name, json()))
}
