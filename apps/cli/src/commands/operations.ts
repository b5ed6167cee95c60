import type { Client } from '@ratatosk/client'
import { type Command, command } from '../frame/command.js'
import { connect, operatorArguments } from '../frame/node-connection.js'

type Operation = (client: Client) => Promise<{ readonly message: string; readonly txHash?: string }>

function operation(name: string, description: string, run: Operation): Command {
  return command(name, description, operatorArguments, async (args, shell) => {
    const value = await run(await connect(args, shell))
    const { message, txHash } = value
    return { value, lines: txHash === undefined ? [message] : [message, `transaction ${txHash}`] }
  })
}

/** The operations that the operator requests from a node on layer 1. */
export const operations: readonly Command[] = [
  operation('init', 'Mint the root unit and run the genesis programs', (client) => client.init()),
  operation('commit', 'Commit a block now', (client) => client.commit()),
  operation('merge', 'Merge the oldest block if it is mature', (client) => client.merge()),
  operation('repair', 'Burn duplicate root units', (client) => client.repairRootUnits()),
]
