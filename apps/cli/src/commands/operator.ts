import { type Client, NetworkError, TimeoutError } from '@ratatosk/client'
import { ada } from '../frame/ada.js'
import { type Command, command, group } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { connect, operatorArguments } from '../frame/node-connection.js'
import { visible } from '../frame/plain-text.js'

/** The answer of the node; a field is absent where the operation has no such thing. */
interface Change {
  readonly message: string
  readonly operatorKey?: string
  readonly txHash?: string
  readonly bond?: string
  readonly activeFrom?: string
  readonly activeUntil?: string
  readonly releaseAt?: string
  /** Operators that stay, as far as the node serves them. */
  readonly others?: number
}

function change(name: string, description: string, run: (client: Client) => Promise<Change>): Command {
  return command(name, description, operatorArguments, async (args, shell) => {
    const value = await run(await connect(args, shell)).catch(explain)
    return { value, lines: linesOf(value) }
  })
}

/** A change that was asked for may be made although no answer came; a repetition changes nothing twice. */
function explain(error: unknown): never {
  if (!(error instanceof NetworkError || error instanceof TimeoutError)) throw error
  const advice = 'The change may have taken effect: run the command again, which changes nothing twice.'
  throw new CommandError(error.code, `${visible(error.message)}. ${advice}`)
}

function linesOf({
  message,
  operatorKey,
  txHash,
  bond,
  activeFrom,
  activeUntil,
  releaseAt,
  others,
}: Change): string[] {
  return [
    message,
    ...(operatorKey === undefined ? [] : [`operator    ${operatorKey}`]),
    ...(txHash === undefined ? [] : [`transaction ${txHash}`]),
    ...(bond === undefined ? [] : [`bond        ${ada(bond)}`]),
    ...(activeFrom === undefined ? [] : [`turns       from ${activeFrom}`]),
    ...(activeUntil === undefined ? [] : [`turns       until ${activeUntil}`]),
    ...(releaseAt === undefined ? [] : [`bond        free from ${releaseAt}`]),
    ...(others === 0 ? ['No other operator is registered: no blocks are committed after these turns.'] : []),
  ]
}

async function retire(client: Client): Promise<Change> {
  const retired = await client.retireOperator()
  const listed = await client.listOperators().catch(() => undefined)
  if (listed === undefined) return retired
  return {
    ...retired,
    others: listed.operators.filter(({ activeUntil }) => activeUntil === undefined).length,
  }
}

/** `ratatosk operator` */
export const operator: Command = group('operator', "The bond of the node's operator on layer 1", [
  change('register', 'Deposit the bond and take turns', (client) => client.registerOperator()),
  change('retire', 'Take no further turns', retire),
  change('release', 'Withdraw the bond of the retired operator', (client) => client.releaseBond()),
])
