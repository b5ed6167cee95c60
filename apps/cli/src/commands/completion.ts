import { type Command, command } from '../frame/command.js'

export function completion(root: () => Command): Command {
  return command(
    'completion',
    'Print a script that completes commands and options in a shell',
    {
      shell: { type: 'enum', options: ['bash', 'zsh', 'fish'], default: 'bash', description: 'The shell' },
    },
    async ({ shell }) => {
      const script = shell === 'fish' ? fishScript(root()) : bashScript(root(), shell === 'zsh')
      return { value: { shell, script }, lines: script.trimEnd().split('\n') }
    },
  )
}

/** The words that may follow each command, by its names without the first. */
function followers(
  command: Command,
  path = '',
): readonly (readonly [path: string, words: readonly string[]])[] {
  const subCommands = Object.entries(command.subCommands ?? {})
  const options = Object.entries(command.args).flatMap(([name, { type }]) =>
    type === 'positional' ? [] : [`--${name}`],
  )
  const own = [path, [...subCommands.map(([name]) => name), ...options, '--help']] as const
  return [own, ...subCommands.flatMap(([name, each]) => followers(each, `${path} ${name}`.trim()))]
}

function bashScript(root: Command, isZsh: boolean): string {
  const cases = followers(root).map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`)
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_ratatosk() {
  local word path='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    path="\${path:+$path }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ratatosk ratatosk
`
}

function fishScript(root: Command): string {
  const lines = followers(root).map(([path, words]) => {
    const names = path.split(' ').filter((name) => name !== '')
    const condition =
      names.length === 0
        ? '__fish_use_subcommand'
        : names.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
    return `complete -c ratatosk -f -n '${condition}' -a '${words.join(' ')}'`
  })
  return `${lines.join('\n')}\n`
}
