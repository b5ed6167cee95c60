import { toHex } from '@ratatosk/cbor'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import type { Administrator } from '../types.js'

/**
 * The administrator. An operation that needs it asks before it changes anything.
 *
 * @throws {SequencerError} `SEQUENCER_NO_ADMINISTRATOR` where its keys are not at hand
 */
export function administratorOf({
  administrator,
  contracts,
}: Pick<SequencerContext, 'administrator' | 'contracts'>): Administrator {
  if (!('absent' in administrator)) return administrator
  const { kind, hash } = contracts.parameters.administrator
  throw new SequencerError(
    'SEQUENCER_NO_ADMINISTRATOR',
    `This needs the signature of the administrator (${kind} ${toHex(hash)}): ${administrator.absent}`,
  )
}
