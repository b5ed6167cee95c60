import type { Contracts } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import { StartError } from '../errors.js'

/**
 * Refuses a database whose blocks were committed to the state queue of other contracts: layer 1 does not show
 * these blocks there, so nothing can follow them.
 *
 * @throws StartError `NODE_DATABASE`, with what to do
 */
export async function checkDeployment(
  { blocks }: { readonly blocks: Pick<Store['blocks'], 'newest'> },
  { scripts: { queue } }: Pick<Contracts, 'scripts'>,
): Promise<void> {
  const block = await blocks.newest()
  // A commit transaction mints a token of the queue's policy.
  if (block === undefined || Buffer.from(block.commitTransaction.cbor).includes(queue.policy, 'hex')) return
  throw new StartError(
    'NODE_DATABASE',
    'The blocks of this database are not in the state queue of these contracts, whose policy is ' +
      `${queue.policy}. A setting that is a parameter of the contracts has changed, or this version has ` +
      'other verdict policies. No transaction or block was changed. Start with the settings of before, ' +
      'restore the backup for the version of before, or begin anew with another DATABASE_SCHEMA or, if ' +
      'DATABASE_URL is not set, another DATA_DIR.',
  )
}
