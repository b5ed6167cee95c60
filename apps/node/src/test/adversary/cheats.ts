import { setTimeout as delay } from 'node:timers/promises'
import { encodedHeader, type Header } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import type { Wallet } from '@ratatosk/layer1'
import { slotToTime, timeToSlot } from '@ratatosk/ledger'
import { commitBlock, isProtocolError, registerOperator } from '@ratatosk/protocol'
import { emptyRoot } from '@ratatosk/trie'
import type { Committed } from '../../../../../packages/protocol/dist/fraud/test/lying-blocks.js'
import { type besideNode, headerAfter } from '../forged-block.js'

/** Milliseconds that a block of a cheat may wait for layer 1; and one that has none behind it. */
const [lifeMs, aloneMs] = [2500n, 4000n]
/** Milliseconds for which layer 1 is asked whether it has a block that cannot come any more. */
const lateMs = 10_000

/** A block of a cheat on layer 1. */
interface CommittedLie {
  readonly wallet: Wallet
  readonly header: Header
  /** Hex. */
  readonly headerHash: string
  /** That of the block behind it, hex. */
  readonly successor: string
  /** POSIX milliseconds. */
  readonly committedAt: number
}

type Roots = Pick<Header, 'prevUtxosRoot' | 'utxosRoot' | 'transactionsRoot'>

/** Operators who lie. Each is registered again when it is slashed. */
interface Cheats {
  /** Registers the wallets that are no operators. */
  register(): Promise<void>
  /**
   * Commits a block in the turn of one of them, and an empty one behind it.
   *
   * @param publish called before the block is sent
   */
  commit(block: Committed, publish: (header: Header) => void): Promise<CommittedLie>
  /**
   * Has the first commit a block alone as soon as it may, and again where layer 1 does not take it.
   *
   * @param tell called with the reason of each attempt that failed for another reason than the one before
   */
  append(roots: Roots, publish: (header: Header) => void, tell: (reason: string) => void): Promise<void>
}

export function openCheats(
  {
    contracts,
    port,
    walletOf,
    readQueue,
    readOperators,
    readScripts,
  }: Awaited<ReturnType<typeof besideNode>>,
  accounts: readonly number[],
): Cheats {
  const wallets = accounts.map(walletOf)
  const { turnLength } = contracts.parameters

  async function now(): Promise<bigint> {
    return slotToTime(await port.slots(), await port.currentSlot())
  }

  /** Whether it is a wallet's turn, and for long enough. */
  async function isInTurn(wallet: Wallet, leastMs: bigint): Promise<boolean> {
    const [at, { datum }] = [await now(), await readOperators()]
    const inTurn = operatorInTurn(datum, at, turnLength)
    if (inTurn === undefined || !equalBytes(inTurn.vkey, wallet.keys.payment.hash)) return false
    return endOfTurn(at, turnLength) - at >= leastMs
  }

  /**
   * Appends a block to the queue.
   *
   * @throws {ProtocolError} (rejects) `PROTOCOL_NOT_SCHEDULED`
   */
  async function append(
    wallet: Wallet,
    roots: Roots,
    lifeMs: bigint,
    publish: (header: Header) => void = () => undefined,
  ): Promise<Header> {
    const slots = await port.slots()
    const [queue, registry] = [await readQueue(), await readOperators()]
    const slot = await port.currentSlot()
    const endTime = slotToTime(slots, timeToSlot(slots, slotToTime(slots, slot) + lifeMs))
    const header = headerAfter(queue, { ...roots, endTime, operatorVkey: wallet.keys.payment.hash })
    const referenceScripts = await readScripts()
    const draft = commitBlock(contracts, { queue, registry, header, slot, slots, referenceScripts })
    publish(header)
    await port.await((await wallet.send(draft)).id, { timeoutMs: Number(lifeMs) + lateMs })
    return header
  }

  return {
    async register() {
      for (const wallet of wallets) {
        const { hash } = wallet.keys.payment
        const registry = await readOperators()
        if (registry.datum.operators.some(({ vkey }) => equalBytes(vkey, hash))) continue
        const slots = await port.slots()
        const validFrom = await port.currentSlot()
        const validity = { validFrom, validUntil: validFrom + turnLength / BigInt(slots.slotLength), slots }
        const draft = registerOperator(contracts, registry, hash, validity, await readScripts())
        const { id } = await wallet.send(draft, { cosigners: [walletOf(0).keys.payment] })
        await port.await(id)
      }
    },

    async append(roots, publish, tell) {
      let told = ''
      const failed = (error: unknown): undefined => {
        // It waits until it may take over.
        if (isProtocolError(error) && error.code === 'PROTOCOL_NOT_SCHEDULED') return
        const reason = String(error)
        if (reason !== told) tell(reason)
        told = reason
      }
      const { length } = (await readQueue()).blocks
      for (;;) {
        // Another wallet each time: layer 1 may have lost what one has in flight.
        const sent = await append(walletOf(accounts[0]!), roots, aloneMs, publish).catch(failed)
        if (sent !== undefined || (await readQueue()).blocks.length > length) return
        await delay(100)
      }
    },

    async commit({ roots }, publish) {
      for (;;) {
        for (const wallet of wallets) {
          if (!(await isInTurn(wallet, 3n * lifeMs))) continue
          const header = await append(wallet, roots, lifeMs, publish)
          const committedAt = Date.now()
          const { utxosRoot } = roots
          const empty = { prevUtxosRoot: utxosRoot, utxosRoot, transactionsRoot: emptyRoot() }
          const successor = await append(wallet, empty, 2n * lifeMs)
          const [headerHash, next] = [header, successor].map((each) => toHex(encodedHeader(each).hash))
          return { wallet, header, headerHash: headerHash!, successor: next!, committedAt }
        }
        await delay(100)
      }
    },
  }
}
