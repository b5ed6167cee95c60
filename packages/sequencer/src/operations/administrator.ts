import { toHex } from '@ratatosk/cbor'
import { isRenounced } from '@ratatosk/contracts'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import type { Administrator } from '../types.js'

/**
 * Whether the rollup has an administrator. Without one its queue never ends, and anybody may register as an
 * operator.
 */
export const hasAdministrator = ({ contracts }: Pick<SequencerContext, 'contracts'>): boolean =>
  !isRenounced(contracts.parameters.administrator)

/**
 * The administrator. An operation that needs it asks before it changes anything.
 *
 * @throws {SequencerError} `SEQUENCER_NO_ADMINISTRATOR` where its keys are not at hand, or there is none
 */
export function administratorOf({
  administrator,
  contracts,
}: Pick<SequencerContext, 'administrator' | 'contracts'>): Administrator {
  if (!hasAdministrator({ contracts }))
    throw new SequencerError(
      'SEQUENCER_NO_ADMINISTRATOR',
      'This needs an administrator, and the rollup has none: nobody can end its state queue, and only a proof of fraud removes a block',
    )
  if (!('absent' in administrator)) return administrator
  const { kind, hash } = contracts.parameters.administrator
  throw new SequencerError(
    'SEQUENCER_NO_ADMINISTRATOR',
    `This needs the signature of the administrator (${kind} ${toHex(hash)}): ${administrator.absent}`,
  )
}
