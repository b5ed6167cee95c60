import type { Bridge } from '@ratatosk/client'
import { devnetOutputs } from '../bridge/layer1-outputs.js'
import { orderOf, transferArguments } from '../bridge/order.js'
import type { MadeWithdrawal } from '../bridge/transfers.js'
import { command, wholeNumber } from '../frame/command.js'
import {
  awaited,
  connect,
  nodeArguments,
  operatorArguments,
  tokenArgument,
} from '../frame/node-connection.js'
import { createProgress } from '../frame/terminal.js'
import { ada } from '../frame/text.js'

/** `ratatosk bridge` */
export const bridge = command(
  'bridge',
  'Show the bridge to layer 1: its terms, its treasury and what it owes',
  nodeArguments,
  async (args, shell) => {
    const value = await (await connect(args, shell)).getBridge()
    return { value, lines: linesOfBridge(value), ok: value.treasury.backed !== false }
  },
)

function linesOfBridge(value: Bridge): readonly string[] {
  const { address, assets, eventWaitMs, payoutFee, creditedUntil, confirmedUntil, treasury, settlements } =
    value
  const { owed, backed } = treasury
  return [
    `address    ${address}`,
    `takes      ${['ada', ...assets].join(', ')}`,
    `deposits   are credited ${eventWaitMs / 1000} s after their validity has ended`,
    `payer      keeps ${ada(payoutFee)} of a withdrawal`,
    `credited   until ${creditedUntil ?? 'the first block'}`,
    `confirmed  until ${confirmedUntil ?? 'the first merge'}`,
    `treasury   ${ada(treasury.lovelace)} in ${treasury.outputs} outputs`,
    ...treasury.assets.map(({ unit, quantity }) => `           ${quantity} ${unit}`),
    `owed       ${owed === undefined ? 'not known to this node' : ada(owed)}`,
    ...(backed === false ? ['           which is more than the treasury has'] : []),
    ...settlements.map(
      ({ headerHash, remaining, lovelace }) =>
        `block      ${headerHash}: ${remaining ?? 'unknown'} withdrawals` +
        `${lovelace === undefined ? '' : `, ${ada(lovelace)}`}`,
    ),
  ]
}

/** How long layer 1 and a block may take after the time of the deposit. */
const creditWaitMs = 300_000

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
    const { credited, depositAdvice, makeDeposit } = await import('../bridge/transfers.js')
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
    const credit = credited(client, id, Date.parse(creditedFrom) - Date.now() + creditWaitMs)
    const outref = await awaited(credit, { value, advice: depositAdvice(value) }).finally(progress.clear)
    return { value: { ...value, outref }, lines: [...lines, `output       ${outref} on layer 2`] }
  },
)

/** Generous: a maturity window may be long. */
const payoutWaitMs = 3_600_000

/** Advice instead of a second withdrawal. */
const adviceOf = ({ outref, txHash }: MadeWithdrawal): string =>
  `The transaction ${txHash} was sent on layer 2: do not withdraw again. ` +
  `\`GET /withdrawals?outref=${encodeURIComponent(outref)}\` shows its state`

/** `ratatosk withdraw` */
export const withdraw = command(
  'withdraw',
  'Bring ada or tokens from layer 2 to layer 1: a payment on layer 2 to the bridge',
  {
    ...transferArguments,
    to: { type: 'string', valueHint: 'address', required: true, description: 'Who gets it on layer 1' },
  },
  async (args, shell) => {
    const order = orderOf(args)
    const client = await connect(args, shell)
    const { makeWithdrawal, paidOut } = await import('../bridge/transfers.js')
    const progress = createProgress(shell, true)
    const value = await makeWithdrawal(client, order, progress.show).finally(progress.clear)
    const lines = [
      `withdrawal   ${value.outref}`,
      `transaction  ${value.txHash} on layer 2, for a fee of ${ada(value.fee)}`,
    ]
    const amount = `${ada(value.arrives)} on layer 1`
    if (!args.wait) return { value, lines: [...lines, `arrives      ${amount}, once its block is merged`] }
    progress.show(`Sent ${value.outref}`)
    const tell = (state: string) => progress.show(`Sent ${value.outref}: ${state}`)
    const paying = paidOut(client, value.outref, payoutWaitMs, tell)
    const { payoutTxHash } = await awaited(paying, { value, advice: adviceOf(value) }).finally(progress.clear)
    const paid = { ...value, state: 'paid', ...(payoutTxHash !== undefined && { payoutTxHash }) }
    const by = payoutTxHash === undefined ? '' : `, by ${payoutTxHash}`
    return { value: paid, lines: [...lines, `paid         ${amount}${by}`] }
  },
)

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
