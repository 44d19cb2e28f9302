import type { Command } from 'commander'

/** Every command below `parent`, with the words that name it. */
export function commandsOf(
  parent: Command,
  words: readonly string[] = [],
): { path: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const path = [...words, command.name()]
    return [{ path: path.join(' '), command }, ...commandsOf(command, path)]
  })
}
