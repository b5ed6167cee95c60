import { type Client, NetworkError, type Operators, TimeoutError } from '@ratatosk/client'
import { type Command, command, group } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { baseUrlOf, connect, identityOf, nodeArguments, operatorArguments } from '../frame/node-connection.js'
import { confirm, yesArgument } from '../frame/terminal.js'
import { ada, visible } from '../frame/text.js'

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
  return command(name, description, operatorArguments, async (args, shell) =>
    resultOf(await run(await connect(args, shell)).catch(explain)),
  )
}

const resultOf = (value: Change) => ({ value, lines: linesOf(value) })

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

const retire = command(
  'retire',
  'Take no further turns; asks first',
  { ...operatorArguments, ...yesArgument },
  async (args, shell) => {
    const client = await connect(args, shell)
    await confirm(args, shell, async () => {
      const [{ operator, network }, { operators }] = await Promise.all([
        identityOf(args, shell),
        client.listOperators(),
      ])
      const bond = operators.find(({ operatorKey }) => operatorKey === operator)?.bond
      return [
        `node      ${baseUrlOf(args, shell)}${network === undefined ? '' : `, network ${network}`}`,
        `operator  ${operator ?? 'the one of this node'}`,
        `bond      ${bond === undefined ? 'none is registered under this key' : ada(bond)}`,
        'The operator takes no further turns, and the bond stays locked until `ratatosk operator release`. ' +
          'No command reverts this: after the release, `ratatosk operator register` locks a new bond.',
      ]
    })
    return resultOf(await retireNow(client).catch(explain))
  },
)

async function retireNow(client: Client): Promise<Change> {
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
  retire,
  change('release', 'Withdraw the bond of the retired operator', (client) => client.releaseBond()),
])

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

export const operators = command(
  'operators',
  'List the operators on layer 1, their bonds and turns',
  nodeArguments,
  async (args, shell) => {
    const value = await (await connect(args, shell)).listOperators()
    return { value, lines: linesOfOperators(value) }
  },
)

function linesOfOperators({ inTurn, next, turnEndsAt, takeOverAt, operators: listed }: Operators) {
  return [
    `in turn    ${inTurn ?? 'no operator'}, until ${turnEndsAt}`,
    `next       ${next ?? 'no operator'}`,
    ...(takeOverAt === undefined ? [] : [`take-over  by any of them from ${takeOverAt}, if no block comes`]),
    ...listed.map(lineOfOperator),
  ]
}

function lineOfOperator({
  operatorKey,
  bond,
  activeFrom,
  activeUntil,
  releaseAt,
}: Operators['operators'][number]) {
  const retired = activeUntil === undefined ? '' : ` until ${activeUntil}, bond free from ${releaseAt}`
  return `${operatorKey}  ${ada(bond)}  from ${activeFrom}${retired}`
}

export const wallet = command(
  'wallet',
  'Show the balance of the wallet that pays for commitments',
  nodeArguments,
  async (args, shell) => {
    const { lovelaceBalance } = await (await connect(args, shell)).getCommitmentWalletBalance()
    return { value: { lovelaceBalance }, lines: [ada(lovelaceBalance)] }
  },
)
