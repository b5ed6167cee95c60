import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'

/** The process that a command runs in. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Writes to standard output. */
  write(text: string): void
  /** Writes to standard error. */
  writeError(text: string): void
  /** Whether standard error is a terminal, which shows progress. Default: false. */
  readonly isTerminal?: boolean
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
