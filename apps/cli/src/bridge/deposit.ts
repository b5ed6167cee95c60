import { toHex } from '@ratatosk/cbor'
import { BadRequestError, type Bridge, type BridgeDraft, type Client, ClientError } from '@ratatosk/client'
import { type Address, encodeBech32Address } from '@ratatosk/ledger'
import { signed } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { afterSending } from '../frame/sent.js'
import { isRefusal } from '../layer2/pay-all.js'
import { assetsOf } from './amounts.js'
import { checkDeposit } from './check-draft.js'
import type { Layer1Outputs } from './layer1-outputs.js'
import { openBridge } from './open-bridge.js'
import type { BridgeOrder } from './user.js'
import { reached } from './wait.js'

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
  const bridge = await openBridge(client, order.bridge)
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
    throw new CommandError('CLI_NO_FUNDS', `${from.addressText} has no outputs on layer 1.`)
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
