import { type ProtocolParameters, splitUnit } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import { createHttpClient } from '../../http/http-client.js'
import { readLimits } from '../../http/limits.js'
import type { Layer1, Layer1Limits } from '../../types.js'
import { createLayer1 } from '../create-layer1.js'
import { createBriefMemo, networkIdOf, type Provider, type ReadLog, utxosOf } from '../provider.js'
import { createKupo } from './kupo.js'
import { createOgmios } from './ogmios.js'

export interface KupmiosOptions extends Layer1Limits {
  /** `http://127.0.0.1:1442` */
  readonly kupoUrl: string
  /** `http://127.0.0.1:1337`; Ogmios 6 or 7, by HTTP. */
  readonly ogmiosUrl: string
  /** The network that the servers must serve: mainnet 764824073, preprod 1, preview 2. */
  readonly networkMagic: number
  /** Sent to both, such as a hosting provider's API key. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Bytes of Kupo's longest list of outputs; default 134,217,728. An output takes about 600, and 3 KB of
   * memory: the default allows a flood of questions that locks 500,000 ada.
   */
  readonly maxListBytes?: number
  /** Default: warnings of the process. */
  readonly log?: ReadLog
}

const defaultListBytes = 128 * 1024 * 1024
const parametersForMs = 60_000
const maxHeights = 1000

const wantedOf = (policy: string | undefined) => (policy === undefined ? {} : { policy })

/**
 * Layer 1 over your own node: outputs from Kupo, everything else from Ogmios. Kupo must index the addresses
 * that are read (`--match '*'`, or at least those of the wallets and scripts), with `--since` before their
 * first outputs.
 *
 * Kupo reports slots, not heights, so `confirmations` count from the first poll: the true number may be
 * higher, never lower.
 *
 * @throws TypeError on invalid options
 * @example
 * const layer1 = createKupmiosLayer1({
 *   kupoUrl: 'http://127.0.0.1:1442',
 *   ogmiosUrl: 'http://127.0.0.1:1337',
 *   networkMagic: 2,
 * })
 */
export function createKupmiosLayer1(options: KupmiosOptions): Layer1 {
  const {
    kupoUrl,
    ogmiosUrl,
    networkMagic,
    headers = {},
    pollMs = 1000,
    maxListBytes = defaultListBytes,
    log,
  } = options
  const limits = readLimits(options)
  const kupo = createKupo({
    http: createHttpClient({ provider: 'Kupo', url: kupoUrl, headers, limits }),
    maxListBytes,
    log,
  })
  const ogmios = createOgmios(createHttpClient({ provider: 'Ogmios', url: ogmiosUrl, headers, limits }))
  const rememberParameters = createBriefMemo<ProtocolParameters>(parametersForMs)
  /** By block hash, an upper bound of the block's height. */
  const heights = new LRUCache<string, number>({ max: maxHeights })

  function heightOf(blockHash: string, tipHeight: number): number {
    const known = heights.get(blockHash)
    if (known !== undefined) return known
    heights.set(blockHash, tipHeight)
    return tipHeight
  }

  const provider: Provider = {
    name: 'kupmios',
    networkId: networkIdOf(networkMagic),
    network: { server: 'Ogmios', magic: networkMagic, servedMagic: ogmios.networkMagic },
    pollMs,
    utxosAt: (address, policy, signal) => kupo.unspent(address, signal, wantedOf(policy)),
    async utxosAsOf(address, policy, signal) {
      const slot = await kupo.readUpTo(signal)
      return { slot, utxos: await kupo.unspent(address, signal, wantedOf(policy)) }
    },
    async utxosByUnit(unit, signal) {
      const { policy, name } = splitUnit(unit)
      // Kupo has no pattern for an empty asset name.
      const found = await kupo.unspent(`${policy}.${name === '' ? '*' : name}`, signal, { policy })
      return found.filter(({ output }) => output.value.assets.get(policy)?.has(name) === true)
    },
    utxosByPolicy: (policy, signal) => kupo.unspent(`${policy}.*`, signal, { policy }),
    utxosByReferences: (references, signal) =>
      utxosOf(references, (id, indexes) => kupo.unspent(`*@${id}`, signal, { indexes })),
    spending: (reference, signal) => kupo.spending(reference, signal),
    parameters: (signal) => rememberParameters(() => ogmios.parameters(signal)),
    tip: (signal) => ogmios.tip(signal),
    slots: (signal) => ogmios.slots(signal),
    send: (cbor, signal) => ogmios.submit(cbor, signal),
    async status(transactionId, signal) {
      const block = await kupo.blockOf(transactionId, signal)
      if (block === undefined) return { kind: 'unknown' }
      const tip = await ogmios.tip(signal)
      // A node behind Kupo's does not know the block's depth.
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
