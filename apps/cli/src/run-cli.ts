import { stripVTControlCharacters } from 'node:util'
import { ClientError } from '@ratatosk/client'
import { runCommand } from 'citty'
import { auditCommand } from './commands/audit.js'
import { bridge, deposit, payout, withdraw } from './commands/bridge.js'
import { completion } from './commands/completion.js'
import { deadLetters } from './commands/dead-letters.js'
import { demo } from './commands/demo.js'
import { keygen } from './commands/keygen.js'
import { load } from './commands/load.js'
import { mcp } from './commands/mcp.js'
import { backup, checkCommand, restore, start } from './commands/node.js'
import { operations, operator, operators, wallet } from './commands/operator.js'
import { pay } from './commands/pay.js'
import { status } from './commands/status.js'
import { submit } from './commands/submit.js'
import { verdicts } from './commands/verdicts.js'
import { verify } from './commands/verify.js'
import {
  type CommandResult,
  checkArguments,
  commandLineOf,
  findCommand,
  group,
  helpOf,
  type Shell,
} from './frame/command.js'
import { CommandError, UsageError } from './frame/errors.js'
import { remedyOf } from './frame/node-connection.js'
import { visible, visibleJson } from './frame/text.js'
import { cliVersion } from './version.js'

/**
 * Runs a command line.
 *
 * @param argv what follows the name of the program
 * @returns the exit status: 0, 1 if the command failed, 2 if the command line is wrong, 3 if nothing
 *   is known to be wrong, but something could not be judged
 *
 * @example
 * process.exitCode = await runCli(['status', '--json'], shell)
 */
export async function runCli(argv: readonly string[], shell: Shell): Promise<0 | 1 | 2 | 3> {
  const isJson = argv.includes('--json')
  try {
    const outcome = await outcomeOf(argv, shell)
    if (outcome === undefined) return 0
    const { value, lines, ok = true, status = 1 } = outcome
    shell.write(isJson ? jsonOf(value) : lines.map((line) => `${visible(line)}\n`).join(''))
    return ok ? 0 : status
  } catch (error) {
    const { code, message, status, stack, value } = failureOf(error)
    if (stack !== undefined && ['debug', 'trace'].includes(shell.environment.LOG_LEVEL ?? ''))
      for (const line of stack.split('\n')) shell.writeError(`${visible(line)}\n`)
    if (isJson) shell.write(jsonOf({ error: { code, message }, ...value }))
    else for (const line of message.split('\n')) shell.writeError(`${visible(line)}\n`)
    return status
  }
}

const jsonOf = (value: unknown): string => `${visibleJson(value)}\n`

async function outcomeOf(argv: readonly string[], shell: Shell): Promise<CommandResult | undefined> {
  const found = findCommand(root, commandLineOf(argv))
  if (found.rest.some((arg) => arg === '--help' || arg === '-h')) {
    const text = await helpOf(found)
    return { value: { help: text }, lines: text.trimEnd().split('\n') }
  }
  if (found.command === root && ['--version', '-v'].includes(found.rest[0] ?? ''))
    return { value: { version: cliVersion }, lines: [cliVersion] }
  if (found.command.subCommands !== undefined) {
    const [option] = found.rest
    if (option !== undefined) throw new UsageError(`Unknown option '${option}'.`)
    throw new UsageError(await helpOf(found))
  }
  checkArguments(found)
  const { result } = await runCommand(found.command, { rawArgs: [...found.rest], data: shell })
  return result as CommandResult | undefined
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly status: 1 | 2 | 3
  /** Fields of the result that were known. */
  readonly value?: object
  /** Of a fault of this program. */
  readonly stack?: string | undefined
}

const longestMessage = 500

/** Failures that a person can correct; others are faults of this program, in one line. */
function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) return { code: error.code, message: error.message, status: 2 }
  if (error instanceof CommandError) {
    const { code, message, value, status } = error
    return { code, message, value, status }
  }
  if (error instanceof Error && error.name === 'CLIError') {
    return { code: 'CLI_USAGE', message: stripVTControlCharacters(error.message), status: 2 }
  }
  if (error instanceof ClientError) {
    // A node's text begins no line of its own.
    return { code: error.code, message: `${visible(error.message)}${remedyOf(error)}`, status: 1 }
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: 'CLI_FAULT',
    message:
      `Unexpected failure: ${visible(text.slice(0, longestMessage))}. ` +
      'Please report it. With LOG_LEVEL=debug, it is shown where it happened.',
    status: 1,
    stack: error instanceof Error ? error.stack : undefined,
  }
}

const root = group('ratatosk', 'Starts, checks and operates a Ratatosk node', [
  start,
  checkCommand,
  status,
  wallet,
  operators,
  operator,
  verdicts,
  bridge,
  pay,
  deposit,
  withdraw,
  payout,
  deadLetters,
  ...operations,
  auditCommand,
  verify,
  backup,
  restore,
  submit,
  load,
  demo,
  mcp,
  keygen,
  completion(() => root),
])
