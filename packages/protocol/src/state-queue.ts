import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type BlockDatum,
  blockTokenName,
  encodeQueueSpend,
  encodeRefundDatum,
  type QueueOutput,
  type QueueSurvey,
  type RootDatum,
  surveyQueue,
} from '@ratatosk/contracts'
import { keyAddress, splitUnit, type Utxo } from '@ratatosk/ledger'
import type { DraftInput, DraftOutput } from '@ratatosk/ledger/builder'
import type { Contracts } from './contracts.js'
import { ProtocolError } from './errors.js'

/** The root of the state queue: the confirmed state. */
export interface RootElement {
  readonly utxo: Utxo
  readonly datum: RootDatum
}

/** A block in the state queue. */
export interface BlockElement {
  readonly utxo: Utxo
  /** 28 bytes, from the token's name. */
  readonly headerHash: Uint8Array
  readonly datum: BlockDatum
}

/**
 * The state queue on layer 1. A repair or reset burns the strays. Nothing is committed to or merged from a
 * queue with a fault.
 */
export type StateQueue = QueueSurvey<RootElement, BlockElement, Utxo>

interface Element extends QueueOutput {
  readonly utxo: Utxo
}

/**
 * Reads the state queue, sound or broken, from the outputs with its tokens, which the contract keeps at the
 * queue's address. Ignores outputs without such a token.
 *
 * @param utxos of `layer1.utxosByPolicy(contracts.scripts.queue.policy)`
 */
export function readStateQueue({ scripts: { queue } }: Contracts, utxos: readonly Utxo[]): StateQueue {
  const elements: Element[] = []
  for (const utxo of utxos) {
    const { value, datum } = utxo.output
    const [name] = value.assets.get(queue.policy)?.keys() ?? []
    if (name === undefined) continue
    elements.push({
      utxo,
      tokenName: fromHex(name),
      datum: datum.kind === 'inline' ? datum.data : undefined,
    })
  }
  const { roots, blocks, strays, fault } = surveyQueue(elements, fromHex(splitUnit(queue.unit).name))
  return {
    roots: roots.map(({ output, datum }) => ({ utxo: output.utxo, datum })),
    blocks: blocks.map(({ output, datum, headerHash }) => ({ utxo: output.utxo, headerHash, datum })),
    strays: strays.map(({ utxo }) => utxo),
    ...(fault && { fault }),
  }
}

/** The name of a block's token, in hex. */
export const tokenOfBlock = (headerHash: Uint8Array): string => toHex(blockTokenName(headerHash))

/** Every output with a token of the queue: what a reset burns. */
export function allElements({ roots, blocks, strays }: StateQueue): readonly Utxo[] {
  const elements: readonly (RootElement | BlockElement)[] = [...roots, ...blocks]
  return [...elements.map(({ utxo }) => utxo), ...strays]
}

/**
 * The root of a queue that is sound.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`
 */
export function soundRoot({ roots, strays, fault }: StateQueue): RootElement {
  const [root] = roots
  if (root !== undefined && !fault) return root
  const message =
    roots.length + strays.length === 0
      ? 'Layer 1 has no state queue of these contracts: it is not initialised yet, or a setting that is ' +
        'part of the contracts, such as MATURITY_WINDOW_MS, differs from those of the deployment'
      : `The state queue is broken: ${fault?.message ?? '0 roots'}`
  throw new ProtocolError('PROTOCOL_BROKEN_QUEUE', message, { cause: fault })
}

/** Spends an element. `leastIndex`: a lower bound on its index among the transaction's sorted inputs. */
export const spendElement = (utxo: Utxo, leastIndex = 0): DraftInput => ({
  utxo,
  redeemer: encodeQueueSpend(leastIndex),
})

/** Pays an element back with another datum. */
export function continueElement({ output }: Utxo, data: Uint8Array): DraftOutput {
  const { address, value } = output
  return {
    address: address.bytes,
    lovelaceAtLeast: value.lovelace,
    assets: value.assets,
    datum: { kind: 'inline', data },
  }
}

/** Returns a block's ada to its operator, less what a settlement takes. */
export const refundBlock = (
  { networkId }: Contracts,
  { utxo, headerHash, datum }: BlockElement,
  taken = 0n,
): DraftOutput => ({
  address: keyAddress(datum.header.operatorVkey, networkId).bytes,
  lovelaceAtLeast: utxo.output.value.lovelace - taken,
  datum: { kind: 'inline', data: encodeRefundDatum(headerHash) },
})
