import { isLayer1Error, Layer1Error, type TransactionDraft, type Wallet } from '@ratatosk/layer1'
import type { Work } from '../life/work.js'

/**
 * Builds and sends a transaction of a program and waits until it is in a block. It is kept nowhere: where the process ends meanwhile,
 * the program looks at layer 1 again and goes on from there.
 *
 * @param reached whether layer 1 shows what the transaction is for, though another one did it
 * @returns its id; undefined where `reached` came first
 * @throws {Layer1Error} `rejected`; `timeout` once it can be included no more
 */
export async function carry(
  work: Work,
  wallet: Wallet,
  draft: TransactionDraft,
  reached: () => Promise<boolean>,
): Promise<string | undefined> {
  const { layer1, slots, signal, blockValidityMs, pollMs } = work
  const current = await layer1.currentSlot({ signal })
  const validUntil = current + BigInt(Math.ceil(blockValidityMs / slots.slotLength))
  const built = await wallet.build({ ...draft, validUntil }, { signal })

  async function look(): Promise<'included' | 'reached' | 'over' | 'waiting'> {
    // The tip first: what is not there afterwards will never be, once the validity is over.
    const { slot } = await layer1.tip({ signal })
    const { kind } = await layer1.status(built.id, { signal })
    if (kind === 'confirmed') return 'included'
    if (await reached()) return 'reached'
    if (slot >= validUntil) return 'over'
    if (kind === 'unknown') await wallet.submit(built, { signal })
    return 'waiting'
  }

  for (;;) {
    const found = await look().catch(waitOut)
    if (found === 'included') return built.id
    if (found !== 'waiting') wallet.release(built.id)
    if (found === 'reached') return undefined
    if (found === 'over') throw new Layer1Error('timeout', 'Layer 1 did not include the transaction in time')
    await work.pause(pollMs)
  }
}

/** A failure that leaves open what became of the transaction is no reason to end. */
function waitOut(error: unknown): 'waiting' {
  if (!isLayer1Error(error)) throw error
  const { kind, mayHaveEffect } = error
  const final = kind === 'rejected' || kind === 'wrong network' || kind === 'unauthorized'
  if (final && !mayHaveEffect) throw error
  return 'waiting'
}
