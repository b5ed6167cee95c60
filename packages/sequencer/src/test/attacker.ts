import { type Header, headerHash } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import { slotToTime } from '@ratatosk/ledger'
import { commitBlock, readRegistry, registerOperator } from '@ratatosk/protocol'
import { until } from './agreement.js'
import { administrator, contracts, evaluator, queueOf, type TestChain } from './rollup.js'
import { attackerKeys } from './rollup-contracts.js'

export { attackerKeys }

/** Registers another operator, with the administrator's signature. */
export async function registerAttacker(
  { layer1, devnet }: TestChain,
  of = contracts,
  keys = attackerKeys,
): Promise<Wallet> {
  const funds = administrator(layer1)
  const { id } = await funds.send({
    outputs: [
      { address: keys.addressText, lovelace: 1_000_000_000n },
      { address: keys.addressText, lovelace: 1_000_000_000n },
    ],
  })
  await layer1.await(id)
  const registry = await readOperators(layer1, of)
  const validFrom = devnet.tip().slot
  const validity = { validFrom, validUntil: validFrom + 30n, slots: devnet.slots }
  const draft = registerOperator(of, registry, keys.payment.hash, validity)
  const registered = await funds.send(draft, { cosigners: [keys.payment] })
  await layer1.await(registered.id)
  return openWallet({ layer1, keys, evaluator, withholdMs: 50 })
}

export async function readOperators(layer1: TestChain['layer1'], of = contracts) {
  return readRegistry(of, await layer1.utxosByUnit(of.scripts.registry.unit))!
}

/** Commits a block whose roots stand for nothing, in the attacker's turn. */
export async function commitJunk({ layer1, devnet }: TestChain, attacker: Wallet): Promise<void> {
  const { turnLength } = contracts.parameters
  await until(async () => {
    const registry = await readOperators(layer1)
    const slot = await layer1.currentSlot()
    const now = slotToTime(devnet.slots, slot)
    const inTurn = operatorInTurn(registry.datum, now, turnLength)
    const left = endOfTurn(now, turnLength) - now
    if (!equalBytes(inTurn!.vkey, attackerKeys.payment.hash) || left < 20_000n) return false
    const queue = await queueOf(layer1)
    const last = queue.blocks.at(-1)?.datum.header
    const state = queue.roots[0]!.datum.state
    const startTime = last?.endTime ?? state.endTime
    const header: Header = {
      prevUtxosRoot: last?.utxosRoot ?? state.utxoRoot,
      utxosRoot: new Uint8Array(32).fill(0xee),
      transactionsRoot: new Uint8Array(32).fill(0xdd),
      depositsRoot: new Uint8Array(32),
      withdrawalsRoot: new Uint8Array(32),
      startTime,
      endTime: slotToTime(devnet.slots, slot + 15n),
      prevHeaderHash: last ? headerHash(last) : state.headerHash,
      operatorVkey: attackerKeys.payment.hash,
      blockVersion: state.blockVersion,
    }
    if (header.endTime <= startTime) return false
    try {
      const draft = commitBlock(contracts, { queue, registry, header, slot, slots: devnet.slots })
      const { id } = await attacker.send(draft)
      await layer1.await(id)
      return true
    } catch {
      return false
    }
  })
}
