import {
  blockTokenName,
  type ConfirmedState,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  type Header,
  headerHash,
} from '@ratatosk/contracts'
import { type Assets, type SlotConfig, slotToTime, timeToSlot, toHex } from '@ratatosk/ledger'
import { invalidDraft } from '../transaction/plan.js'
import type { DraftInput, TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'
import { bringScript, type Contracts, inOrder } from './contracts.js'
import type { BlockElement, RootElement, StateQueue } from './state-queue.js'

/**
 * Begins a state queue: mints its root. The administrator signs.
 *
 * @param library outputs that may hold the script for reference
 */
export function initQueue(
  contracts: Contracts,
  state: ConfirmedState,
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { queue, parameters } = contracts
  const name = queue.unit.slice(56)
  return {
    ...bringScript(queue, library),
    mint: [
      { policy: queue.policy, assets: new Map([[name, 1n]]), redeemer: encodeQueueAction({ kind: 'init' }) },
    ],
    outputs: [
      {
        address: queue.address,
        assets: tokenOf(queue.policy, name),
        datum: { kind: 'inline', data: encodeRootDatum({ state }) },
      },
    ],
    requiredSigners: [parameters.administrator],
  }
}

export interface Commit {
  readonly queue: StateQueue
  /** The output that holds the operator registry. */
  readonly registry: Utxo
  /** Its `endTime` begins a slot: the first that the transaction is no more valid in. */
  readonly header: Header
  /** The slot of now: it lies in the operator's turn. */
  readonly slot: bigint
  readonly slots: SlotConfig
  readonly library?: readonly Utxo[]
}

/**
 * Appends a block. The header's operator signs.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where the queue has not exactly one root, its last link leads nowhere, or the header's
 *   end is not a slot's beginning; what the validator demands of the header is for the evaluation to say
 */
export function commitBlock(contracts: Contracts, commit: Commit): TransactionDraft {
  const { queue } = contracts
  const { header, registry, slot, slots, library = [] } = commit
  const validUntil = timeToSlot(slots, header.endTime)
  if (slotToTime(slots, validUntil) !== header.endTime) throw invalidDraft('a block that ends within a slot')
  const root = soleRoot(commit.queue)
  const tail = commit.queue.blocks.at(-1)
  const last = tail ?? root
  if (last.datum.link) throw invalidDraft('a queue whose last link leads to a block that is not there')
  const link = headerHash(header)
  const carried = tail ? encodeBlockDatum({ ...tail.datum, link }) : encodeRootDatum({ ...root.datum, link })
  const name = toHex(blockTokenName(link))
  const script = bringScript(queue, library)
  return {
    ...script,
    referenceInputs: [...(script.referenceInputs ?? []), registry],
    inputs: [spend(last.utxo)],
    mint: [
      {
        policy: queue.policy,
        assets: new Map([[name, 1n]]),
        redeemer: encodeQueueAction({ kind: 'commit' }),
      },
    ],
    outputs: [
      carry(last.utxo, carried),
      {
        address: last.utxo.output.address.bytes,
        assets: tokenOf(queue.policy, name),
        datum: { kind: 'inline', data: encodeBlockDatum({ header }) },
      },
    ],
    requiredSigners: [header.operatorVkey],
    validFrom: slot,
    validUntil,
  }
}

/**
 * Merges the oldest block into the confirmed state, from the first slot on in which it is mature. Anybody may.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where there is no block, or not exactly one root
 */
export function mergeBlock(
  contracts: Contracts,
  state: StateQueue,
  slots: SlotConfig,
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { queue, parameters, networkId } = contracts
  const root = soleRoot(state)
  const [oldest] = state.blocks
  if (oldest === undefined) throw invalidDraft('no block to merge')
  const { header, link } = oldest.datum
  const merged: ConfirmedState = {
    headerHash: headerHash(header),
    prevHeaderHash: header.prevHeaderHash,
    utxoRoot: header.utxosRoot,
    startTime: header.startTime,
    endTime: header.endTime,
    protocolVersion: header.protocolVersion,
  }
  const name = toHex(blockTokenName(merged.headerHash))
  return {
    ...bringScript(queue, library),
    inputs: [spend(root.utxo), spend(oldest.utxo)],
    mint: [
      {
        policy: queue.policy,
        assets: new Map([[name, -1n]]),
        redeemer: encodeQueueAction({ kind: 'merge' }),
      },
    ],
    outputs: [
      carry(root.utxo, encodeRootDatum({ state: merged, ...(link && { link }) })),
      {
        address: Uint8Array.of(0x60 | networkId, ...header.operatorVkey),
        lovelaceAtLeast: oldest.utxo.output.value.lovelace,
        datum: { kind: 'inline', data: encodeRefundDatum(merged.headerHash) },
      },
    ],
    validFrom: firstSlotFrom(slots, header.endTime + parameters.maturityWindow),
  }
}

/**
 * Burns elements of the queue, their ada to the wallet: all of them to reset, superfluous roots to repair. The administrator signs.
 * Fifty fit into one transaction: with the script by reference they take 9.3 million memory units and 4,937 bytes.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where there is nothing to burn
 */
export function burnElements(
  contracts: Contracts,
  elements: readonly Utxo[],
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { queue, parameters } = contracts
  const burned = new Map<string, bigint>()
  for (const { output } of elements) {
    for (const [name, quantity] of output.value.assets.get(queue.policy) ?? []) {
      burned.set(name, (burned.get(name) ?? 0n) - quantity)
    }
  }
  if (burned.size === 0) throw invalidDraft('no element to burn')
  return {
    ...bringScript(queue, library),
    inputs: inOrder(elements).map(spend),
    mint: [{ policy: queue.policy, assets: burned, redeemer: encodeQueueAction({ kind: 'deinit' }) }],
    requiredSigners: [parameters.administrator],
  }
}

/** Every output of a queue that holds one of its tokens: what a reset burns. */
export function allElements({ roots, blocks, strays }: StateQueue): readonly Utxo[] {
  const elements: readonly (RootElement | BlockElement)[] = [...roots, ...blocks]
  return [...elements.map(({ utxo }) => utxo), ...strays]
}

/** The first slot that begins at a moment or later. */
export function firstSlotFrom(slots: SlotConfig, time: bigint): bigint {
  const slot = timeToSlot(slots, time)
  return slotToTime(slots, slot) < time ? slot + 1n : slot
}

function soleRoot({ roots }: StateQueue): RootElement {
  const [root] = roots
  if (root === undefined || roots.length > 1) throw invalidDraft(`a queue with ${roots.length} roots`)
  return root
}

const spend = (utxo: Utxo): DraftInput => ({ utxo, redeemer: encodeQueueSpend() })

function carry({ output }: Utxo, data: Uint8Array) {
  const { address, value } = output
  return {
    address: address.bytes,
    lovelaceAtLeast: value.lovelace,
    assets: value.assets,
    datum: { kind: 'inline', data },
  } as const
}

function tokenOf(policy: string, name: string): Assets {
  return new Map([[policy, new Map([[name, 1n]])]])
}
