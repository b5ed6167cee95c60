import { type ParseArgsConfig, parseArgs, stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs, renderUsage } from 'citty'
import { UsageError } from './errors.js'

/** The process that a command runs in. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Writes to standard output. */
  write(text: string): void
  /** Writes to standard error. */
  writeError(text: string): void
  /** Whether standard error is a terminal, which shows progress. Default: false. */
  readonly isTerminal?: boolean
  /** Asks a person, and reads a line. Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>
}

/** 1: it failed. 3: it is not known, because not everything could be read. */
type FailedStatus = 1 | 3

export interface CommandResult {
  /** With `--json`. */
  readonly value: unknown
  /** Without. Control and format characters are escaped, so that a text of a stranger forges no line. */
  readonly lines: readonly string[]
  /** Exit status 1 if false. Default: true. */
  readonly ok?: boolean
  /** Instead of 1. */
  readonly status?: FailedStatus
}

/** A command, with its sub-commands or its run. */
export interface Command extends CommandDef {
  readonly meta: { readonly name: string; readonly description: string }
  readonly args: ArgsDef
  readonly subCommands?: Readonly<Record<string, Command>>
  /** An option that has a value each time. Others that occur twice are an error. */
  readonly repeatable?: string
}

const jsonArgument = { json: { type: 'boolean', description: 'Print JSON' } } as const

/**
 * Defines a command. Its run returns what to print; undefined if it has printed everything. Of an option that
 * is `repeatable`, `args` has the last value, and `given`, the arguments as they were, has all.
 */
export function command<const T extends ArgsDef>(
  name: string,
  description: string,
  args: T,
  run: (
    args: ParsedArgs<T & typeof jsonArgument>,
    shell: Shell,
    given: readonly string[],
  ) => Promise<CommandResult | undefined>,
): Command {
  const definition = defineCommand<T & typeof jsonArgument>({
    meta: { name, description },
    args: { ...args, ...jsonArgument },
    run: (context) => run(context.args, context.data, context.rawArgs),
  })
  return definition as unknown as Command
}

/** Defines a command that only has sub-commands. */
export function group(name: string, description: string, subCommands: readonly Command[]): Command {
  return {
    meta: { name, description },
    args: {},
    subCommands: Object.fromEntries(subCommands.map((each) => [each.meta.name, each])),
  }
}

interface FoundCommand {
  readonly command: Command
  /** The names before its own, such as `ratatosk dead-letters`. */
  readonly parent: string
  /** The arguments after its name. */
  readonly rest: readonly string[]
}

/**
 * The command line as it is run: `help <command>` is `<command> --help`, and a negative number is the value
 * of the option before it, for `parseArgs` takes it for another option.
 */
export function commandLineOf(argv: readonly string[]): readonly string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help']
  const joined: string[] = []
  for (const arg of argv) {
    const last = joined.at(-1)
    if (last !== undefined && /^--[^=]+$/.test(last) && /^-\d/.test(arg))
      joined[joined.length - 1] += `=${arg}`
    else joined.push(arg)
  }
  return joined
}

/** The command that the first arguments name. @throws UsageError */
export function findCommand(root: Command, argv: readonly string[]): FoundCommand {
  let found: FoundCommand = { command: root, parent: '', rest: argv }
  while (found.command.subCommands !== undefined) {
    const [name, ...rest] = found.rest
    if (name === undefined || name.startsWith('-')) return found
    const { meta, subCommands } = found.command
    const parent = `${found.parent} ${meta.name}`.trim()
    const command = Object.hasOwn(subCommands, name) ? subCommands[name] : undefined
    if (command === undefined)
      throw new UsageError(`Unknown command: ${name}. \`${parent} --help\` lists the commands.`)
    found = { command, parent, rest }
  }
  return found
}

export async function helpOf({ command, parent }: FoundCommand): Promise<string> {
  const text = await renderUsage(command, parent === '' ? undefined : { meta: { name: parent } })
  return `${stripVTControlCharacters(text).replace(/ +$/gm, '')}\n`
}

/** Refuses what citty ignores: unknown arguments, and a second value of an option. @throws UsageError */
export function checkArguments({ command, parent, rest }: FoundCommand): void {
  const defined = Object.entries(command.args)
  const options = Object.fromEntries(
    defined
      .filter(([, { type }]) => type !== 'positional')
      .map(([name, { type }]) => [name, { type: type === 'boolean' ? type : 'string' } as const]),
  )
  const mostPositionals = defined.length - Object.keys(options).length
  const help = `\`${parent} ${command.meta.name} --help\` lists what it takes.`
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(rest, options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`${error.message.split(/[.\n]/, 1)[0]}. ${help}`)
  }
  const { positionals, tokens } = parsed
  const valued = tokens.flatMap((token) =>
    token.kind === 'option' && token.value !== undefined ? token.name : [],
  )
  const twice = valued.find((name, index) => valued.indexOf(name) < index && name !== command.repeatable)
  if (twice !== undefined) throw new UsageError(`--${twice} has two values. ${help}`)
  const extra = positionals[mostPositionals]
  if (extra !== undefined) throw new UsageError(`Unexpected argument: ${extra}. ${help}`)
}

const parse = (args: readonly string[], options: NonNullable<ParseArgsConfig['options']>) =>
  parseArgs({ args: [...args], options, strict: true, allowPositionals: true, tokens: true })

/** A whole number of an option. @throws UsageError */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw new UsageError(`--${option} is "${text}": it must be a whole number from 1 to ${most}.`)
}
