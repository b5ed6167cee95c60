import type { ChainOutputQuery, SlotRange } from '@ratatosk/chain-apis'
import type { BlockEnd, ChainQueries } from '@ratatosk/store'
import type { At, OutputQuery, SequenceRange } from '../ledger-index/index.js'
import type { ViewBlocks } from './blocks.js'
import type { Finality, Head } from './finality.js'

/** The ledger of a view at one moment. */
export interface State {
  readonly head: Head
  readonly at: At
}

type RangesOf = (
  query: Pick<ChainOutputQuery, 'createdIn' | 'spentIn'>,
  state: State,
) => Promise<Pick<OutputQuery, 'produced' | 'spentBy'> | undefined>

const genesis: BlockEnd = { height: 0n, lastSequence: 0n }

/** The blocks above one and up to another. Without the latter, the newest of the view too. */
interface Between {
  readonly above: BlockEnd | undefined
  readonly upTo: BlockEnd | undefined
}

/**
 * Turns the slots of a query into the accept sequences by which the index finds outputs, with a few reads of
 * blocks. The answer is undefined if no output can match.
 */
export function slotRanges(
  finality: Finality,
  chain: Pick<ChainQueries, 'depositsBetween'>,
  { closedUntil, openSlot }: Pick<ViewBlocks, 'closedUntil' | 'openSlot'>,
): RangesOf {
  const endAt = async (slot: bigint, newest: Head) => (await closedUntil(slot, newest)) ?? genesis

  async function between({ from = 0n, to }: SlotRange, newest: Head): Promise<Between | undefined> {
    const open = openSlot(newest)
    if (from > open || (to !== undefined && to < from)) return undefined
    return {
      above: from > 0n ? await endAt(from - 1n, newest) : undefined,
      upTo: to === undefined || to >= open ? undefined : await endAt(to, newest),
    }
  }

  async function producedIn({ above, upTo }: Between, { head, at }: State): Promise<SequenceRange> {
    const last: Partial<BlockEnd> = upTo ?? {
      ...(finality !== 'accepted' && { height: BigInt(head.tip.height) }),
      ...(at.sequence !== undefined && { lastSequence: at.sequence }),
    }
    const { credited, waiting } = await chain.depositsBetween(above ?? genesis, last)
    const until = last.lastSequence
    return {
      ...(above && { after: above.lastSequence }),
      ...(until !== undefined && { until }),
      without: waiting,
      others: credited,
    }
  }

  return async ({ createdIn, spentIn }, state) => {
    const created = createdIn && (await between(createdIn, state.head))
    const spent = spentIn && (await between(spentIn, state.head))
    if ((createdIn && !created) || (spentIn && !spent)) return undefined
    return {
      ...(created && { produced: await producedIn(created, state) }),
      ...(spent && {
        spentBy: {
          ...(spent.above && { after: spent.above.lastSequence }),
          ...(spent.upTo && { until: spent.upTo.lastSequence }),
        },
      }),
    }
  }
}
