import type { Migration } from '@ratatosk/node'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { configArgument, withConfigFile } from '../settings/config-file.js'
import { withStore } from '../settings/with-store.js'

/** `ratatosk migrate` */
export const migrate = command(
  'migrate',
  'Export the confirmed outputs and the other transactions of a stopped node for a new deployment',
  {
    from: {
      type: 'string',
      valueHint: 'folder',
      description: 'DATA_DIR of an embedded store. Default: the store of the settings',
    },
    to: { type: 'string', valueHint: 'folder', required: true, description: 'New folder for the export' },
    ...configArgument,
  },
  async ({ from, to, config }, { environment: own }) => {
    // A URL may have a password, which other users of the machine can read in arguments.
    if (from?.includes('://'))
      throw new UsageError('--from takes a DATA_DIR. For PostgreSQL leave it out, and set DATABASE_URL.')
    if (from === '') throw new UsageError('--from is empty: name a DATA_DIR.')
    const environment = await withConfigFile(config, own)
    const store = from === undefined ? {} : { DATA_DIR: from, DATABASE_URL: '', DATABASE_URL_FILE: '' }
    return withStore({ ...environment, ...store }, async (node, settings) => {
      const value = await node.migrate(settings, to)
      return { value, text: textOf(value, node.shellArgument) }
    })
  },
)

function textOf(migration: Migration, shellArgument: (path: string) => string): string {
  const { from, blockVersion, ledgerVersion, confirmedHeight, outputs, transactions } = migration
  const { missing, deadLetters } = migration
  const state = confirmedHeight === '0' ? 'the genesis' : `block ${confirmedHeight}`
  const version = ledgerVersion === undefined ? '' : ` LEDGER_VERSION=${ledgerVersion}`
  const { leftOut } = outputs
  const expired = transactions.expired === 0 ? '' : `; ${transactions.expired} of them have expired`
  return [
    `Exported from ${from}${blockVersion === undefined ? '' : `, block version ${blockVersion}`}:`,
    `  ${outputs.file}: ${outputs.count} outputs after ${state}, ${ada(outputs.lovelace)}`,
    `  ${transactions.file}: ${transactions.count} transactions after it${expired}`,
    'Nothing was changed there. With DATABASE_URL, a node that serves no request cannot be seen: check',
    'that all are stopped, because what one accepts from now on stays behind.',
    '',
    'Begin the new deployment:',
    '  1. Start a node with an empty DATA_DIR, or another DATABASE_SCHEMA and QUEUE_PREFIX, with',
    `     GENESIS_FILE=${shellArgument(outputs.file)}${version}`,
    '     and, on a public network, another DEPLOYMENT_OUTPUT.',
    `  2. ratatosk submit ${shellArgument(transactions.file)}`,
    '',
    'Left behind:',
    `  - ${deadLetters} dead letters`,
    ...(leftOut.count === 0 ? [] : [`  - ${leftOut.count} outputs: ${leftOut.reasons.join('; ')}`]),
    ...(missing === 0 ? [] : [`  - ${missing} transactions that the queue lists but has lost`]),
    '  - blocks with their proofs, events, address history, claims at the faucet',
    '  - the state queue, bonds and history on layer 1',
    '  - transactions that have expired: the new node rejects them, and what spends their outputs',
  ].join('\n')
}
