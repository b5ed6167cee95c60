import { equalBytes, isDecodeError } from '@ratatosk/cbor'
import { isLayer1Error, missingInputs } from '@ratatosk/layer1'
import { decodeTransaction, outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { BridgeSubmitter } from '@ratatosk/state-queue/bridge'
import type { Settlement } from '../layer1/settlement.js'
import type { BridgeContracts, BridgeMoment } from './moment.js'

/** Transactions that are sent at a time. */
const maxAtOnce = 8

/** Sends transactions of the bridge to layer 1, and no others: this node is no gateway to layer 1. */
export function openSubmitter(
  { layer1 }: Pick<Settlement, 'layer1'>,
  { bridge }: BridgeContracts,
  moment: () => Promise<BridgeMoment>,
): BridgeSubmitter {
  let running = 0

  const paysTo = ({ body }: Transaction): boolean =>
    body.outputs.some(({ address }) => equalBytes(address.bytes, bridge.place.address))

  async function spendsFrom({ body }: Transaction): Promise<boolean> {
    const { deposits, reserves, settlements, strays } = await moment()
    const held = [...deposits, ...settlements].map(({ utxo }) => utxo)
    const keys = new Set(
      [...held, ...reserves, ...strays].map(({ reference }) => outputReferenceKey(reference)),
    )
    return body.inputs.some((reference) => keys.has(outputReferenceKey(reference)))
  }

  const submit: BridgeSubmitter['submit'] = async (cbor, signal) => {
    let transaction: Transaction
    try {
      transaction = decodeTransaction(cbor)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      return { kind: 'refused', reason: `The CBOR is no transaction of layer 1: ${error.message}` }
    }
    if (!(paysTo(transaction) || (await spendsFrom(transaction)))) return { kind: 'foreign' }
    const options = signal && { signal }
    try {
      return { kind: 'sent', transactionId: await layer1.submit(cbor, options) }
    } catch (error) {
      if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
      const missing = await missingInputs(layer1, () => false, transaction, options)
      if (missing.length > 0) return { kind: 'spent' }
      return { kind: 'refused', reason: `Layer 1 refuses the transaction: ${error.reason ?? error.message}` }
    }
  }

  return {
    async submit(cbor, signal) {
      if (running >= maxAtOnce) return { kind: 'busy' }
      running += 1
      try {
        return await submit(cbor, signal)
      } finally {
        running -= 1
      }
    },
  }
}
