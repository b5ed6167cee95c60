import { setTimeout as pause } from 'node:timers/promises'
import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  BadRequestError,
  type Bridge,
  type BridgeDraft,
  type BridgeWithdrawal,
  type Client,
  ClientError,
} from '@ratatosk/client'
import {
  type Address,
  type Assets,
  decodeBech32Address,
  encodeBech32Address,
  minimumLovelace,
  type OutputDatum,
  type ProtocolParameters,
} from '@ratatosk/ledger'
import { signed, toOutput } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { afterSending } from '../frame/node-connection.js'
import { visible } from '../frame/text.js'
import { isRefusal, parametersOf, payAll } from '../layer2/layer2.js'
import { checkDeposit } from './check-draft.js'
import type { Layer1Outputs } from './layer1-outputs.js'
import { assetsOf, type BridgeOrder } from './order.js'

const pollMs = 1000

/** Asks again and again until there is an answer. @throws CommandError after `timeoutMs` */
async function reached<T>(what: string, timeoutMs: number, ask: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + timeoutMs; ; ) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() >= end)
      throw new CommandError('CLI_TIMEOUT', `The command waited ${timeoutMs / 1000} s until ${what}.`)
    await pause(pollMs)
  }
}

/** A draft is valid for some seconds, which a loaded machine may need for it. */
const attempts = 3

/**
 * Has the node draft a deposit, checks the draft, signs it and has the node send it.
 *
 * @param onProgress told the hash of a transaction before the node sends it
 * @returns the signed transaction, which layer 1 has taken
 * @throws CommandError or ClientError
 */
export async function makeDeposit(
  client: Client,
  outputsOf: Layer1Outputs,
  order: BridgeOrder,
  onProgress?: (state: string) => void,
): Promise<Required<BridgeDraft>> {
  const bridge = await openBridge(client, order)
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryDeposit(client, outputsOf, order, bridge, onProgress)
    } catch (error) {
      const isLate = error instanceof BadRequestError && error.message.includes('OutsideValidityInterval')
      if (!isLate || attempt === attempts) throw error
    }
  }
}

async function tryDeposit(
  client: Client,
  outputsOf: Layer1Outputs,
  { from, to, lovelace, units }: BridgeOrder,
  bridge: Bridge,
  onProgress: ((state: string) => void) | undefined,
): Promise<Required<BridgeDraft>> {
  const outputs = await outputsOf(from.addressText)
  if (outputs.length === 0)
    throw new CommandError(
      'CLI_NO_FUNDS',
      `${from.addressText} has no outputs on layer 1: pay to it there, as the faucet does unless its ` +
        'FAUCET_LAYER is 2. Without --seed-file, a test wallet of the devnet pays.',
    )
  const draft = await client.draftBridgeTransaction({
    kind: 'deposit',
    utxos: outputs.map(({ pair }) => pair),
    changeAddress: from.addressText,
    to: textOf(to),
    lovelace: String(lovelace),
    ...(units.size > 0 && { assets: Object.fromEntries([...units].map(([unit, n]) => [unit, String(n)])) }),
  })
  const funds = outputs.map(({ utxo }) => utxo)
  const changeAddress = from.address.bytes
  const asked = { to: to.bytes, lovelace, assets: assetsOf(units), funds, changeAddress }
  const checked = checkDeposit(draft, asked, bridge)
  const transaction = toHex(signed(checked.transaction, [from.payment]))
  const made = {
    id: checked.id,
    txHash: toHex(checked.transaction.id),
    fee: String(checked.transaction.body.fee),
    creditedFrom: new Date(Number(checked.time)).toISOString(),
  }
  onProgress?.(`Submitting ${made.txHash}, the deposit ${made.id}`)
  try {
    await client.submitBridgeTransaction({ transaction })
  } catch (error) {
    if (!(error instanceof ClientError) || isRefusal(error)) throw error
    throw afterSending(error, { value: made, advice: depositAdvice(made, false) })
  }
  return { ...made, transaction }
}

/** Advice instead of a second deposit. @param isTaken whether layer 1 has taken it */
export const depositAdvice = (
  { id, txHash }: Pick<Required<BridgeDraft>, 'id' | 'txHash'>,
  isTaken = true,
): string =>
  `The transaction ${txHash} ${isTaken ? 'was' : 'may have been'} sent to layer 1: do not deposit again` +
  `${isTaken ? '' : ' before you know'}. \`GET /deposits?id=${id}\` shows its state once a block has it`

const textOf = (address: Address): string => (address.kind === 'byron' ? '' : encodeBech32Address(address))

/** Waits until a block has credited a deposit. @returns its output on layer 2, `<id>#0` */
export async function credited(client: Client, id: string, timeoutMs: number): Promise<string> {
  const found = await reached(`deposit ${id} is credited`, timeoutMs, async () => {
    const [deposit] = (await client.listDeposits({ id })).deposits
    return deposit !== undefined && deposit.state !== 'waiting' ? deposit : undefined
  })
  return found.outref
}

/** The bridge of a node. @throws CommandError if it is not that of the order, or takes less */
async function openBridge(client: Client, { bridge: wanted, units }: BridgeOrder): Promise<Bridge> {
  const bridge = await client.getBridge()
  if (wanted !== undefined && bridge.address !== wanted)
    throw new CommandError('CLI_OTHER_BRIDGE', `The bridge of the node is ${visible(bridge.address)}.`)
  const foreign = [...units.keys()].find((unit) => !bridge.assets.includes(unit.slice(0, 56)))
  if (foreign === undefined) return bridge
  throw new CommandError(
    'CLI_NOT_BRIDGED',
    `The bridge does not take ${foreign}: \`ratatosk bridge\` lists the policies of its BRIDGED_POLICIES.`,
  )
}

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
  order: BridgeOrder,
  onProgress?: (state: string) => void,
): Promise<MadeWithdrawal> {
  const { from, to, lovelace, units } = order
  const bridge = await openBridge(client, order)
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
