import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'

export const wallet = command(
  'wallet',
  'Show the balance of the wallet that pays for commitments',
  nodeArguments,
  async (args, shell) => {
    const { lovelaceBalance } = await (await connect(args, shell)).getCommitmentWalletBalance()
    return { value: { lovelaceBalance }, lines: [ada(lovelaceBalance)] }
  },
)
