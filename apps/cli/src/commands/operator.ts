import type { Client } from '@ratatosk/client'
import { ada } from '../frame/ada.js'
import { type Command, command, group } from '../frame/command.js'
import { connect, operatorArguments } from '../frame/node-connection.js'

/** The answer of the node; a field is absent where the operation has no such thing. */
interface Change {
  readonly message: string
  readonly txHash?: string
  readonly bond?: string
  readonly activeFrom?: string
  readonly activeUntil?: string
  readonly releaseAt?: string
}

function change(name: string, description: string, run: (client: Client) => Promise<Change>): Command {
  return command(name, description, operatorArguments, async (args, shell) => {
    const value = await run(await connect(args, shell))
    return { value, lines: linesOf(value) }
  })
}

function linesOf({ message, txHash, bond, activeFrom, activeUntil, releaseAt }: Change): string[] {
  return [
    message,
    ...(txHash === undefined ? [] : [`transaction ${txHash}`]),
    ...(bond === undefined ? [] : [`bond        ${ada(bond)}`]),
    ...(activeFrom === undefined ? [] : [`turns       from ${activeFrom}`]),
    ...(activeUntil === undefined ? [] : [`turns       until ${activeUntil}`]),
    ...(releaseAt === undefined ? [] : [`bond        free from ${releaseAt}`]),
  ]
}

/** `ratatosk operator` */
export const operator: Command = group('operator', "The bond of the node's operator on layer 1", [
  change('register', 'Deposit the bond and take turns', (client) => client.registerOperator()),
  change('retire', 'Take no further turns', (client) => client.retireOperator()),
  change('release', 'Withdraw the bond of the retired operator', (client) => client.releaseBond()),
])
