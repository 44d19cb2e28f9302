import type { Command } from 'commander'
import { Failure } from '../../schemas/failure.ts'
import { commandsOf } from './commands/walk.ts'

/** What may follow one command: its subcommands, or its options. */
interface Node {
  readonly path: string
  readonly words: readonly { readonly word: string; readonly help: string }[]
  readonly takesFile: boolean
}

/** A script that completes the commands and options of a program in a shell. Throws Failure `invalid_request`. */
export function completionScript(shell: string, program: Command): string {
  const nodes = [{ path: '', command: program }, ...commandsOf(program)].map(nodeOf)
  if (shell === 'bash') return bash(nodes)
  if (shell === 'zsh') return zsh(nodes)
  if (shell === 'fish') return fish(nodes)
  throw new Failure('invalid_request', `There is no completion for ${shell}.`, {
    hint: 'Shells: bash, zsh, fish.',
  })
}

function nodeOf({ path, command }: { path: string; command: Command }): Node {
  const commands = command.commands.map((child) => ({ word: child.name(), help: child.description() }))
  const options = command.options.flatMap(({ long, description }) =>
    long ? [{ word: long, help: description }] : [],
  )
  const takesFile = command.registeredArguments.some((argument) => /file|what/.test(argument.name()))
  return { path, words: [...commands, ...options, { word: '--help', help: 'display help' }], takesFile }
}

/** The words before the cursor without options name the command; words that are no command are its arguments. */
function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, words, takesFile }) => {
    const list = words.map(({ word }) => word).join(' ')
    return `    '${path}') words='${list}'; files=${takesFile ? 1 : 0} ;;`
  })
  return `# bash completion of dragoman
_dragoman() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' next word words files
  local commands=' : ${commandPaths(nodes).join(' : ')} : '
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$commands" in *" : $next : "*) path="$next" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ] && [ \${#COMPREPLY[@]} = 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _dragoman dragoman`
}

function commandPaths(nodes: readonly Node[]): string[] {
  return nodes.map(({ path }) => path).filter((path) => path !== '')
}

function zsh(nodes: readonly Node[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const cases = nodes.map(({ path, words, takesFile }) => {
    const list = words.map(({ word, help }) => quote(`${word}:${help}`)).join(' ')
    return `    ${quote(path)}) words_here=(${list}); files=${takesFile ? 1 : 0} ;;`
  })
  return `#compdef dragoman
_dragoman() {
  local path_here='' next word files
  local -a words_here commands
  commands=(${commandPaths(nodes).map(quote).join(' ')})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_here:+$path_here }$word"
    if (( \${commands[(Ie)$next]} )); then path_here="$next"; fi
  done
  case "$path_here" in
${cases.join('\n')}
  esac
  _describe -t commands 'dragoman' words_here
  if [[ $files = 1 ]]; then _files; fi
}
if [ "$funcstack[1]" = "_dragoman" ]; then _dragoman "$@"; else compdef _dragoman dragoman; fi`
}

function fish(nodes: readonly Node[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = nodes.flatMap(({ path, words, takesFile }) => [
    ...words.map(({ word, help }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c dragoman -n ${quote(`__dragoman_at '${path}'`)} ${what} -d ${quote(help)}`
    }),
    ...(takesFile ? [`complete -c dragoman -n ${quote(`__dragoman_at '${path}'`)} -F`] : []),
  ])
  return `# fish completion of dragoman
function __dragoman_at
  set -l commands ${commandPaths(nodes).map(quote).join(' ')}
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    if contains -- $next $commands
      set path $next
    end
  end
  test "$path" = "$argv[1]"
end
complete -c dragoman -f
${lines.join('\n')}`
}
