import { command } from '../frame/command.js'
import { wholeNumber } from '../frame/command-line.js'
import { connect, operatorArguments } from '../frame/node-connection.js'

const mostWithdrawals = 10_000

/** `ratatosk payout` */
export const payout = command(
  'payout',
  'Pay withdrawals of merged blocks on layer 1 now',
  {
    ...operatorArguments,
    block: {
      type: 'string',
      valueHint: 'hash',
      description: 'Only those of the block with this header hash',
    },
    limit: { type: 'string', valueHint: 'count', description: 'Most withdrawals to pay' },
  },
  async (args, shell) => {
    const { block, limit } = args
    const value = await (await connect(args, shell)).payWithdrawals({
      ...(block !== undefined && { headerHash: block }),
      ...(limit !== undefined && { limit: wholeNumber('limit', limit, mostWithdrawals) }),
    })
    const { txHashes, paid, remaining } = value
    return {
      value,
      lines: [
        `paid       ${paid}; ${remaining} are owed still`,
        ...txHashes.map((hash) => `on layer 1 ${hash}`),
      ],
    }
  },
)
