import { outputReferenceKey, type ProtocolParameters, toHex } from '@ratatosk/ledger'
import { Layer1Error } from '../../errors.js'
import { createHttpClient } from '../../http/http-client.js'
import { readLimits } from '../../http/retry.js'
import type { Layer1, Layer1Limits } from '../../types.js'
import { mapConcurrently } from '../concurrency.js'
import { createLayer1 } from '../create-layer1.js'
import { createBriefMemo } from '../memo.js'
import type { Provider } from '../provider.js'
import { createKupo } from './kupo.js'
import { createOgmios } from './ogmios.js'

export interface KupmiosOptions extends Layer1Limits {
  /** `http://127.0.0.1:1442` */
  readonly kupoUrl: string
  /** `http://127.0.0.1:1337`; Ogmios 6, by HTTP. */
  readonly ogmiosUrl: string
  /** The network that they must serve: mainnet 764824073, preprod 1, preview 2. */
  readonly networkMagic: number
  /** Sent to both, such as a hoster's key. */
  readonly headers?: Readonly<Record<string, string>>
}

const MAINNET_MAGIC = 764824073
/** Requests under way at once. */
const WIDTH = 5
const PARAMETERS_FOR_MS = 60_000
/** Blocks whose heights are remembered. */
const HEIGHTS = 1000

/**
 * Layer 1 by one's own node: outputs from Kupo, everything else from Ogmios. Kupo must index what is asked for (`--match '*'`, or
 * at least the wallets' and scripts' addresses), with `--since` before their first outputs.
 *
 * Kupo tells slots and not heights, so `confirmations` are counted from when a transaction is first looked at: there may be
 * more, never fewer.
 *
 * @throws TypeError on options that cannot work
 * @example
 * const layer1 = createKupmiosLayer1({
 *   kupoUrl: 'http://127.0.0.1:1442',
 *   ogmiosUrl: 'http://127.0.0.1:1337',
 *   networkMagic: 2,
 * })
 */
export function createKupmiosLayer1(options: KupmiosOptions): Layer1 {
  const { kupoUrl, ogmiosUrl, networkMagic, headers = {}, pollMs = 1000 } = options
  const limits = readLimits(options)
  const kupo = createKupo(createHttpClient({ provider: 'Kupo', url: kupoUrl, headers, limits }))
  const ogmios = createOgmios(createHttpClient({ provider: 'Ogmios', url: ogmiosUrl, headers, limits }))
  const rememberParameters = createBriefMemo<ProtocolParameters>(PARAMETERS_FOR_MS)
  /** By block hash, a height that is no less than the block's. */
  const heights = new Map<string, number>()

  function heightOf(blockHash: string, tipHeight: number): number {
    const known = heights.get(blockHash)
    if (known !== undefined) return known
    const oldest = heights.keys().next()
    if (heights.size >= HEIGHTS && !oldest.done) heights.delete(oldest.value)
    heights.set(blockHash, tipHeight)
    return tipHeight
  }

  const provider: Provider = {
    name: 'kupmios',
    networkId: networkMagic === MAINNET_MAGIC ? 1 : 0,
    pollMs,
    utxosAt: (address, signal) => kupo.unspent(address, signal),
    async utxosByUnit(unit, signal) {
      const policy = unit.slice(0, 56)
      const name = unit.slice(56)
      // The pattern of an empty name is not among Kupo's.
      const found = await kupo.unspent(`${policy}.${name === '' ? '*' : name}`, signal)
      return found.filter(({ output }) => output.value.assets.get(policy)?.has(name) === true)
    },
    async utxosByReferences(references, signal) {
      const wanted = new Set(references.map(outputReferenceKey))
      const transactions = [...new Set(references.map(({ transactionId }) => toHex(transactionId)))]
      const found = await mapConcurrently(transactions, WIDTH, (id) => kupo.unspent(`*@${id}`, signal))
      return found.flat().filter(({ reference }) => wanted.has(outputReferenceKey(reference)))
    },
    parameters: (signal) => rememberParameters(() => ogmios.parameters(signal)),
    tip: (signal) => ogmios.tip(signal),
    slots: (signal) => ogmios.slots(signal),
    async checkNetwork(signal) {
      const magic = await ogmios.networkMagic(signal)
      if (magic === networkMagic) return
      throw new Layer1Error('wrong network', `Ogmios serves network ${magic} instead of ${networkMagic}`)
    },
    send: (cbor, signal) => ogmios.submit(cbor, signal),
    async status(transactionId, signal) {
      const block = await kupo.blockOf(transactionId, signal)
      if (block === undefined) return { kind: 'unknown' }
      const tip = await ogmios.tip(signal)
      // A node that is behind Kupo's says nothing of the block's depth.
      const confirmations = tip.slot < block.slot ? 0 : tip.height - heightOf(block.hash, tip.height)
      return {
        kind: 'confirmed',
        slot: block.slot,
        blockHash: block.hash,
        confirmations: Math.max(0, confirmations),
      }
    },
    evaluate: (cbor, signal) => ogmios.evaluate(cbor, signal),
  }
  return createLayer1(provider, limits)
}
