import type { DeadLetterSummary } from '@ratatosk/client'
import { type Command, command, group, wholeNumber } from '../frame/command.js'
import { connect, operatorArguments } from '../frame/node-connection.js'

const idArgument = {
  id: { type: 'positional', required: true, description: 'Id of the dead letter' },
} as const
const mostLetters = 500

const list = command(
  'list',
  'List rejected transactions, newest first',
  {
    ...operatorArguments,
    limit: { type: 'string', valueHint: 'count', default: '50', description: 'Most dead letters to list' },
    before: { type: 'string', valueHint: 'page', description: '`before` of the page before' },
  },
  async (args, shell) => {
    const { limit, before } = args
    const client = await connect(args, shell)
    const value = await client.listDeadLetters({
      limit: wholeNumber('limit', limit, mostLetters),
      ...(before && { before }),
    })
    const lines = value.deadLetters.map(lineOf)
    if (lines.length === 0) lines.push('No dead letters')
    if (value.before !== undefined) lines.push(`More: --before ${value.before}`)
    return { value, lines }
  },
)

function lineOf({ id, rejectedAt, code, reason, count }: DeadLetterSummary): string {
  return `${id}  ${rejectedAt}  ${code} (${count}×): ${reason}`
}

const show = command(
  'show',
  'Show a rejected transaction, with every reason',
  { ...operatorArguments, ...idArgument },
  async (args, shell) => {
    const value = await (await connect(args, shell)).showDeadLetter({ id: args.id })
    return { value, lines: JSON.stringify(value, undefined, 2).split('\n') }
  },
)

const replay = command(
  'replay',
  'Submit a rejected transaction again',
  { ...operatorArguments, ...idArgument },
  async (args, shell) => {
    const value = await (await connect(args, shell)).replayDeadLetter({ id: args.id })
    return { value, lines: [`Submitted again as ${value.id}`] }
  },
)

const drop = command(
  'drop',
  'Remove a dead letter for good',
  { ...operatorArguments, ...idArgument },
  async (args, shell) => {
    await (await connect(args, shell)).dropDeadLetter({ id: args.id })
    return { value: { dropped: args.id }, lines: [`Dropped ${args.id}`] }
  },
)

export const deadLetters: Command = group('dead-letters', 'Rejected transactions', [list, show, replay, drop])
