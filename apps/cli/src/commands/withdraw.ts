import { orderOf, transferArguments } from '../bridge/user.js'
import type { MadeWithdrawal } from '../bridge/withdraw.js'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect } from '../frame/node-connection.js'
import { createProgress } from '../frame/progress.js'
import { awaited } from '../frame/sent.js'

/** Generous: a maturity window may be long. */
const waitMs = 3_600_000

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
    const { makeWithdrawal, paidOut } = await import('../bridge/withdraw.js')
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
    const payout = paidOut(client, value.outref, waitMs, tell)
    const { payoutTxHash } = await awaited(payout, { value, advice: adviceOf(value) }).finally(progress.clear)
    const paid = { ...value, state: 'paid', ...(payoutTxHash !== undefined && { payoutTxHash }) }
    const by = payoutTxHash === undefined ? '' : `, by ${payoutTxHash}`
    return { value: paid, lines: [...lines, `paid         ${amount}${by}`] }
  },
)
