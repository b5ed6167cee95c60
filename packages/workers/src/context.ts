import {
  forecastHorizon,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  timeToSlot,
} from '@ratatosk/ledger'

interface ContextOptions {
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
}

/**
 * The rules for new transactions at a time. Blocks are judged without the horizon of layer 1, which no fraud
 * proof knows: only what enters the mempool keeps it.
 *
 * @param now POSIX milliseconds
 */
export function contextAt({ parameters, networkId, slots }: ContextOptions, now: number): RuleContext {
  const slot = timeToSlot(slots, BigInt(now))
  return { parameters, networkId, slot, forecastHorizon: forecastHorizon(slot) }
}
