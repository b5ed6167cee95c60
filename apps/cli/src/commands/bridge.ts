import type { Bridge } from '@ratatosk/client'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'

/** `ratatosk bridge` */
export const bridge = command(
  'bridge',
  'Show the bridge to layer 1: its terms, its treasury and what it owes',
  nodeArguments,
  async (args, shell) => {
    const value = await (await connect(args, shell)).getBridge()
    return { value, lines: linesOf(value), ok: value.treasury.backed !== false }
  },
)

function linesOf(value: Bridge): readonly string[] {
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
