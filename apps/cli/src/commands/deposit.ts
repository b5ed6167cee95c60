import { devnetOutputs } from '../bridge/layer1-outputs.js'
import { orderOf, transferArguments } from '../bridge/user.js'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, tokenArgument } from '../frame/node-connection.js'
import { createProgress } from '../frame/progress.js'
import { awaited } from '../frame/sent.js'

/** How long layer 1 and a block may take after the time of the deposit. */
const waitMs = 300_000

/** `ratatosk deposit` */
export const deposit = command(
  'deposit',
  'Bring ada or tokens from layer 1 to layer 2: the node drafts, this command checks and signs',
  {
    ...transferArguments,
    to: { type: 'string', valueHint: 'address', required: true, description: 'Who gets it on layer 2' },
    devnet: {
      type: 'string',
      valueHint: 'url',
      description: 'Controls of the devnet that show outputs on layer 1. Default: those of the node',
    },
    ...tokenArgument,
  },
  async (args, shell) => {
    const order = orderOf(args)
    const client = await connect(args, shell)
    const { credited, depositAdvice, makeDeposit } = await import('../bridge/deposit.js')
    const outputsOf = devnetOutputs(args, shell)
    const progress = createProgress(shell, true)
    const made = await makeDeposit(client, outputsOf, order, progress.show).finally(progress.clear)
    const { id, txHash, fee, creditedFrom } = made
    const value = { id, txHash, fee, creditedFrom }
    const lines = [
      `deposit      ${id}`,
      `transaction  ${txHash} on layer 1, for a fee of ${ada(fee)}`,
      `credited     by the block of ${creditedFrom}`,
    ]
    if (!args.wait) return { value, lines }
    progress.show(`Sent ${txHash}, the deposit ${id}: waiting for the block of ${creditedFrom}`)
    const credit = credited(client, id, Date.parse(creditedFrom) - Date.now() + waitMs)
    const outref = await awaited(credit, { value, advice: depositAdvice(value) }).finally(progress.clear)
    return { value: { ...value, outref }, lines: [...lines, `output       ${outref} on layer 2`] }
  },
)
