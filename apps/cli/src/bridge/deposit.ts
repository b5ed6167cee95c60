import { toHex } from '@ratatosk/cbor'
import { BadRequestError, type Bridge, type BridgeDraft, type Client } from '@ratatosk/client'
import { type Address, encodeBech32Address } from '@ratatosk/ledger'
import { signed } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
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
 * @returns the signed transaction, which layer 1 has taken
 * @throws CommandError or ClientError
 */
export async function makeDeposit(
  client: Client,
  outputsOf: Layer1Outputs,
  order: BridgeOrder,
): Promise<Required<BridgeDraft>> {
  const bridge = await openBridge(client, order.bridge)
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryDeposit(client, outputsOf, order, bridge)
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
  const { txHash } = await client.submitBridgeTransaction({ transaction })
  const creditedFrom = new Date(Number(checked.time)).toISOString()
  return { id: checked.id, txHash, fee: String(checked.transaction.body.fee), creditedFrom, transaction }
}

const textOf = (address: Address): string => (address.kind === 'byron' ? '' : encodeBech32Address(address))

/** Waits until a block has credited a deposit. @returns its output on layer 2, `<id>#0` */
export async function credited(client: Client, id: string, timeoutMs: number): Promise<string> {
  const found = await reached(`deposit ${id} is credited`, timeoutMs, async () => {
    const [deposit] = (await client.listDeposits({ id })).deposits
    return deposit !== undefined && deposit.state !== 'waiting' ? deposit : undefined
  })
  return found.outref
}
