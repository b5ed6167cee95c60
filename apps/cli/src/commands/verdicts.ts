import type { BlockVerdict } from '@ratatosk/client'
import { command, wholeNumber } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { ada } from '../frame/text.js'

const states = ['unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed'] as const
const mostVerdicts = 500

export const verdicts = command(
  'verdicts',
  'List what the watcher of a node found against blocks; fails if one is unprovable',
  {
    ...nodeArguments,
    state: { type: 'string', valueHint: 'state', description: `Only these: ${states.join(', ')}` },
    limit: { type: 'string', valueHint: 'count', default: '50', description: 'Most verdicts to list' },
    before: {
      type: 'string',
      valueHint: 'hash',
      description: 'Header hash of the last one of the page before',
    },
  },
  async (args, shell) => {
    const { limit, before } = args
    const state = states.find((each) => each === args.state)
    if (args.state !== undefined && state === undefined)
      throw new UsageError(`Invalid --state '${args.state}'. Use one of ${states.join(', ')}.`)
    const query = { limit: wholeNumber('limit', limit, mostVerdicts), ...(before && { before }) }
    const client = await connect(args, shell)
    const value = await client.listVerdicts({ ...query, ...(state && { state }) })
    const lines = value.verdicts.map(lineOf)
    if (lines.length === 0) lines.push('No verdicts')
    if (value.hasMore) lines.push(`More: --before ${value.verdicts.at(-1)?.headerHash}`)
    const ok = value.verdicts.every((verdict) => verdict.state !== 'unprovable')
    return { value, lines, ok }
  },
)

function lineOf({ height, headerHash, state, fraud, reason, transactions }: BlockVerdict): string {
  const fees = transactions.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
  const cost = transactions.length === 0 ? '' : `, ${transactions.length} transactions for ${ada(fees)}`
  const proof = fraud === undefined ? '' : ` (${fraud})`
  return `block ${height} (${headerHash})  ${state}${proof}: ${reason}${cost}`
}
