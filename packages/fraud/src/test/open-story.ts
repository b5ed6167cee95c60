import { blockVersion, type Header } from '@ratatosk/block'
import type { ProvableRules } from '@ratatosk/contracts'
import { slotToTime } from '@ratatosk/ledger'
import { openScene } from '../../../protocol/dist/test/protocol-scene.js'
import { accuse } from '../accused-block.js'
import { findFraud } from '../find-fraud.js'
import { accusation, type Committed, type Story, tellStory } from './lying-blocks.js'

/** A story, and what its blocks are judged by. */
export interface OpenStory {
  readonly story: Story
  readonly rules: ProvableRules
  /** Of every block. */
  readonly interval: Pick<Header, 'startTime' | 'endTime'>
  /** The fraud of a block with the smallest proof; undefined if there is none. */
  find(block: Committed): Promise<ReturnType<typeof findFraud>>
}

export async function openStory(): Promise<OpenStory> {
  const { devnet, layer1, slots } = await openScene()
  // The ledger version in which an input must not be read too.
  const parameters = { ...(await layer1.parameters()), ledgerVersion: { major: 10, minor: 0 } }
  const rules = { parameters, networkId: 0, slots }
  const endTime = slotToTime(slots, devnet.currentSlot())
  const interval = { startTime: endTime - 20_000n, endTime }
  await devnet.close()
  return {
    story: await tellStory(parameters, slots),
    rules,
    interval,
    async find(block) {
      const header = {
        ...block.roots,
        ...interval,
        depositsRoot: new Uint8Array(32),
        withdrawalsRoot: new Uint8Array(32),
        prevHeaderHash: new Uint8Array(28),
        operatorVkey: new Uint8Array(28),
        blockVersion,
      }
      return findFraud(await accuse(accusation(block, header)), rules)
    },
  }
}
