import { withoutFeeOutput } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { DepositOutput } from '@ratatosk/protocol'
import type { DepositAnswer, DepositList, DepositsPart } from '@ratatosk/state-queue/bridge'
import type { Block, BlockState, Store } from '@ratatosk/store'
import { addressOn, type BridgeMoment } from './moment.js'

type Deposits = Pick<Store, 'deposit'> & { readonly blocks: Pick<Store['blocks'], 'depositsOf'> }

/** The deposits at the bridge on layer 1, and those that this node's blocks have credited. */
export function openDeposits(
  moment: () => Promise<BridgeMoment>,
  store: Deposits,
  networkId: 0 | 1,
): DepositList {
  return {
    async list(part) {
      const address = part.address === undefined ? undefined : addressOn(networkId, part.address)
      if (part.address !== undefined && address === undefined) return 'not an address'
      const now = await moment()
      const found = now.deposits.filter(filterOf(part, address?.bytes, now))
      const { offset, limit } = part
      const page = found.slice(offset, offset + limit)
      if (page.length === 0 && offset === 0) {
        const used = await usedDeposit(store, now, part, address?.bytes)
        return { deposits: used === undefined ? [] : [used], hasMore: false }
      }
      const deposits = await Promise.all(page.map((deposit) => listed(store, now, deposit)))
      return { deposits, hasMore: found.length > offset + limit }
    },
  }
}

function filterOf(part: DepositsPart, address: Uint8Array | undefined, now: BridgeMoment) {
  const { id, outref, state } = part
  return (deposit: DepositOutput): boolean =>
    (id === undefined || equalBytes(deposit.id, id)) &&
    (outref === undefined ||
      outref === outputReferenceKey(deposit.utxo.reference) ||
      outref === `${toHex(deposit.id)}#0`) &&
    (address === undefined || equalBytes(deposit.address, address)) &&
    (state === undefined || stateAt(now, deposit.time) === state)
}

/** The block whose interval has a time: it credits the deposits of this time. */
const blockAt = ({ unmerged }: BridgeMoment, time: bigint): Block | undefined =>
  unmerged.find(({ startTime, endTime }) => startTime <= time && time < endTime)

function stateAt(now: BridgeMoment, time: bigint): DepositAnswer['state'] {
  if (now.confirmed !== undefined && time < now.confirmed.endTime) return 'merged'
  const block = blockAt(now, time)
  return block === undefined ? 'waiting' : stateOf(block.state)
}

function stateOf(state: BlockState | 'waiting'): DepositAnswer['state'] {
  if (state === 'built' || state === 'submitted') return 'credited'
  if (state === 'removed' || state === 'waiting') return 'waiting'
  return state === 'merged' ? 'merged' : 'committed'
}

async function listed(
  store: Deposits,
  now: BridgeMoment,
  { utxo, id, time, output }: DepositOutput,
): Promise<DepositAnswer> {
  const state = stateAt(now, time)
  const block = state === 'merged' ? await store.deposit(id) : blockAt(now, time)
  return {
    id,
    layer1Outref: outputReferenceKey(utxo.reference),
    outref: `${toHex(id)}#0`,
    output,
    time,
    state,
    ...(block && { headerHash: block.headerHash, height: block.height }),
  }
}

/** A deposit that fits, and whose output at the bridge is spent: it is known by its id only. */
async function usedDeposit(
  store: Deposits,
  now: BridgeMoment,
  { id, outref, state }: DepositsPart,
  address: Uint8Array | undefined,
): Promise<DepositAnswer | undefined> {
  const wanted = id ?? (outref?.endsWith('#0') ? fromHex(outref.slice(0, -2)) : undefined)
  if (wanted === undefined || (outref !== undefined && outref !== `${toHex(wanted)}#0`)) return undefined
  // It is there, and does not fit.
  if (now.deposits.some((deposit) => equalBytes(deposit.id, wanted))) return undefined
  const place = await store.deposit(wanted)
  if (place === undefined) return undefined
  const { headerHash, previousHeaderHash: prevHeaderHash } = place
  const credited = withoutFeeOutput(await store.blocks.depositsOf(headerHash), { prevHeaderHash })
  const found = credited.find((deposit) => equalBytes(deposit.id, wanted))
  if (found === undefined || (address && !equalBytes(found.address, address))) return undefined
  const used = {
    id: wanted,
    outref: `${toHex(wanted)}#0`,
    output: found.output,
    state: stateOf(place.state),
    headerHash: place.headerHash,
    height: place.height,
  }
  return state === undefined || used.state === state ? used : undefined
}
