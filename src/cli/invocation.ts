import { basename, relative, sep } from 'node:path'
import { commandOf } from '../../schemas/commands.ts'
import { actionsInProse } from '../../schemas/names.ts'
import { examples } from './examples.ts'

/** The name in the registry of npm. */
const npmName = '@dragoman-registry/dragoman'

/**
 * What to type in `folder`, or in any folder, to start the command line that was started as `script`: a clone and an
 * image have no command `dragoman`.
 */
export function invocationOf(script: string, folder?: string): string {
  const path = script.split(sep)
  if (path.includes('_npx')) return `npx ${npmName}`
  if (path.at(-2) === '.bin') return 'npx dragoman'
  if (basename(script) !== 'dragoman.js' || path.includes('node_modules')) return 'dragoman'
  const near = folder === undefined ? script : relative(folder, script)
  const shown = near.startsWith('..') ? script : near
  return `node ${/\s/.test(shown) ? `"${shown}"` : shown}`
}

/** What to type in the current folder. */
export function invocation(): string {
  return invocationOf(process.argv[1] ?? '', process.cwd())
}

/**
 * A text with its commands as they are typed here. Failures come from every layer, and from other gateways, and all name
 * the command `dragoman`.
 */
export function asTyped(text: string, typed = invocation()): string {
  if (typed === 'dragoman') return text
  return text.replace(commands, (_, command: string) => `${typed} ${command}`)
}

/** Names that no ordinary word of a hint is. */
const named = Object.keys(commandOf).filter((name) => name.includes('_'))
const actions = actionsInProse(named)

/** A hint, in which a command stands for each action that a program would call. */
export function inCommands(hint: string): string {
  return hint.replace(actions, (action) => `dragoman ${pathOf(commandOf[action] ?? '')}`)
}

/** A command without the arguments that it needs. */
function pathOf(line: string): string {
  return line.replace(/ (?:[A-Z]|--).*/, '')
}

const names = new Set(Object.keys(examples).map((path) => path.split(' ')[0]))
const commands = new RegExp(`(?<![\\w./@-])dragoman (${[...names].join('|')})(?![\\w-])`, 'g')
