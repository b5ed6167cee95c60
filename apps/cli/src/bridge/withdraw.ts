import { CborWriter, toHex } from '@ratatosk/cbor'
import type { BridgeWithdrawal, Client } from '@ratatosk/client'
import {
  type Address,
  type Assets,
  decodeBech32Address,
  minimumLovelace,
  type OutputDatum,
  type ProtocolParameters,
} from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { parametersOf } from '../layer2/layer2.js'
import { payAll } from '../layer2/pay-all.js'
import { assetsOf } from './amounts.js'
import { openBridge } from './open-bridge.js'
import type { BridgeOrder } from './user.js'
import { reached } from './wait.js'

/** A withdrawal that layer 2 has accepted. */
export interface MadeWithdrawal {
  /** Of the output on layer 2 that has left it. */
  readonly outref: string
  /** On layer 2. */
  readonly txHash: string
  /** Lovelace, decimal: of all transactions that it took. */
  readonly fee: string
  /** Lovelace, decimal, that reach layer 1 at least: who pays it out keeps the rest. */
  readonly arrives: string
}

/**
 * Pays to the bridge on layer 2, with the address on layer 1 as datum, and waits until that is accepted.
 * @param onProgress told the hash of each transaction before it is submitted
 * @throws CommandError or ClientError
 */
export async function makeWithdrawal(
  client: Client,
  { from, to, lovelace, units, bridge: wanted }: BridgeOrder,
  onProgress?: (state: string) => void,
): Promise<MadeWithdrawal> {
  const bridge = await openBridge(client, wanted)
  if (toHex(to.bytes.subarray(1, 29)) === bridge.policies.bridge)
    throw new CommandError('CLI_TO_BRIDGE', '--to is the address of the bridge: name one of a wallet.', {}, 2)
  const data = new CborWriter().bytes(to.bytes).toBytes()
  const datum = { kind: 'inline', data } as const
  const output = { address: bridge.address, lovelace, assets: assetsOf(units), datum }
  const least = leastOf(output, to, BigInt(bridge.payoutFee), await parametersOf(client))
  if (lovelace < least)
    throw new CommandError(
      'CLI_TOO_LITTLE',
      `A withdrawal like this has at least ${least} lovelace, of which ${bridge.payoutFee} go to who pays ` +
        'it out. Nothing was sent.',
    )
  const { transactions } = await payAll(client, from, [output], { onProgress })
  // Those before it join outputs of the wallet.
  const { txHash = '' } = transactions.at(-1) ?? {}
  const fee = transactions.reduce((sum, each) => sum + BigInt(each.fee), 0n)
  const left = lovelace - BigInt(bridge.payoutFee)
  return { outref: `${txHash}#0`, txHash, fee: String(fee), arrives: String(left > 0n ? left : 0n) }
}

/** The least lovelace that layer 2 holds, and that layer 1 can pay out; both ask for as much a byte. */
function leastOf(
  { address, assets, datum }: WithdrawalOutput,
  payTo: Address,
  payoutFee: bigint,
  parameters: ProtocolParameters,
): bigint {
  const bridge = decodeBech32Address(address).bytes
  let least = payoutFee
  for (;;) {
    const held = toOutput({ address: bridge, value: { lovelace: least, assets }, datum })
    const value = { lovelace: least - payoutFee, assets }
    const paid = toOutput({ address: payTo.bytes, value, datum: { kind: 'none' } })
    const onLayer1 = payoutFee + minimumLovelace(paid, parameters)
    let next = minimumLovelace(held, parameters)
    if (next < onLayer1) next = onLayer1
    // A greater amount may take more bytes.
    if (next <= least) return least
    least = next
  }
}

interface WithdrawalOutput {
  /** Bech32. */
  readonly address: string
  readonly assets: Assets
  readonly datum: OutputDatum
}

/** Waits until layer 1 has paid a withdrawal. @param onState told of each new state */
export async function paidOut(
  client: Client,
  outref: string,
  timeoutMs: number,
  onState: (state: BridgeWithdrawal['state']) => void = () => undefined,
): Promise<BridgeWithdrawal> {
  let last: BridgeWithdrawal['state'] | undefined
  let looks = 0
  return reached(`withdrawal ${outref} is paid`, timeoutMs, async () => {
    const [withdrawal] = (await client.listWithdrawals({ outref })).withdrawals
    if (withdrawal === undefined) return undefined
    if (withdrawal.state !== last) onState(withdrawal.state)
    last = withdrawal.state
    if (withdrawal.state !== 'paid') return undefined
    // A process that has paid it names the transaction a moment later; another one never does.
    return withdrawal.payoutTxHash !== undefined || ++looks > 3 ? withdrawal : undefined
  })
}
