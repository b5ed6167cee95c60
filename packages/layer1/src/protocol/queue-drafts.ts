import {
  blockTokenName,
  type ConfirmedState,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  endOfTurn,
  type Header,
  headerHash,
  operatorInTurn,
} from '@ratatosk/contracts'
import { type Assets, equalBytes, type SlotConfig, slotToTime, timeToSlot, toHex } from '@ratatosk/ledger'
import { ProtocolError } from '../errors.js'
import { invalidDraft } from '../transaction/plan.js'
import type { DraftInput, TransactionDraft } from '../transaction/types.js'
import type { Utxo } from '../types.js'
import { bringScript, type Contracts, inOrder } from './contracts.js'
import type { RegistryElement } from './registry-drafts.js'
import { type StateQueue, soundRoot } from './state-queue.js'

/** How many elements one transaction burns at most. */
export const MAX_BURNED_ELEMENTS = 50

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
  readonly registry: RegistryElement
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
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`; `PROTOCOL_NOT_SCHEDULED` where the operator is not in turn in `slot`, or the block
 *   ends after that turn
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where the header's end is not a slot's beginning; what else the validator demands of
 *   the header is for the evaluation to say
 */
export function commitBlock(contracts: Contracts, commit: Commit): TransactionDraft {
  const { queue } = contracts
  const { header, registry, slot, slots, library = [] } = commit
  const validUntil = timeToSlot(slots, header.endTime)
  if (slotToTime(slots, validUntil) !== header.endTime) throw invalidDraft('a block that ends within a slot')
  const root = soundRoot(commit.queue)
  const tail = commit.queue.blocks.at(-1)
  const last = tail ?? root
  refuseOutOfTurn(contracts, commit)
  const link = headerHash(header)
  const carried = tail ? encodeBlockDatum({ ...tail.datum, link }) : encodeRootDatum({ ...root.datum, link })
  const name = toHex(blockTokenName(link))
  const script = bringScript(queue, library)
  return {
    ...script,
    referenceInputs: [...(script.referenceInputs ?? []), registry.utxo],
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

export interface Merge {
  readonly queue: StateQueue
  /** The slot of now. */
  readonly slot: bigint
  readonly slots: SlotConfig
  readonly library?: readonly Utxo[]
}

/**
 * Merges the oldest block into the confirmed state. Anybody may, from the first slot on in which it is mature:
 * `firstSlotFrom(slots, header.endTime + maturityWindow)`.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`; `PROTOCOL_NOT_MATURE` where that slot is still to come
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where there is no block
 */
export function mergeBlock(contracts: Contracts, merge: Merge): TransactionDraft {
  const { queue, parameters, networkId } = contracts
  const { slot, slots, library = [] } = merge
  const root = soundRoot(merge.queue)
  const [oldest] = merge.queue.blocks
  if (oldest === undefined) throw invalidDraft('no block to merge')
  const { header, link } = oldest.datum
  const validFrom = firstSlotFrom(slots, header.endTime + parameters.maturityWindow)
  if (slot < validFrom)
    throw new ProtocolError(
      'PROTOCOL_NOT_MATURE',
      `Block ${oldest.headerHash} may be merged from slot ${validFrom} on; this is ${slot}`,
    )
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
    validFrom,
  }
}

/**
 * Burns elements of the queue, their ada to the wallet: all of them to reset, superfluous roots to repair. The administrator signs.
 *
 * @throws {ProtocolError} `PROTOCOL_TOO_MANY_ELEMENTS` where there are more than {@link MAX_BURNED_ELEMENTS}
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where there is nothing to burn
 */
export function burnElements(
  contracts: Contracts,
  elements: readonly Utxo[],
  library: readonly Utxo[] = [],
): TransactionDraft {
  const { queue, parameters } = contracts
  if (elements.length > MAX_BURNED_ELEMENTS)
    throw new ProtocolError(
      'PROTOCOL_TOO_MANY_ELEMENTS',
      `${elements.length} elements to burn: one transaction takes ${MAX_BURNED_ELEMENTS}`,
    )
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

/** The first slot that begins at a moment or later. */
export function firstSlotFrom(slots: SlotConfig, time: bigint): bigint {
  const slot = timeToSlot(slots, time)
  return slotToTime(slots, slot) < time ? slot + 1n : slot
}

function refuseOutOfTurn({ parameters }: Contracts, { registry, header, slot, slots }: Commit): void {
  const { turnLength } = parameters
  const time = slotToTime(slots, slot)
  const scheduled = operatorInTurn(registry.datum, time, turnLength)
  if (scheduled === undefined || !equalBytes(scheduled.vkey, header.operatorVkey))
    throw new ProtocolError(
      'PROTOCOL_NOT_SCHEDULED',
      `Slot ${slot} is not the turn of operator ${toHex(header.operatorVkey)}`,
    )
  const end = endOfTurn(time, turnLength)
  if (header.endTime > end)
    throw new ProtocolError(
      'PROTOCOL_NOT_SCHEDULED',
      `A block that ends at ${header.endTime}, after its operator's turn at ${end}`,
    )
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
