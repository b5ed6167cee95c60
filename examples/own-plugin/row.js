import { pluginRow } from '@ratatosk/node'
import { balance } from './balance.js'

/** Every process that serves the ledger serves `GET /balance`. */
export const balanceRow = pluginRow({
  plugin: balance,
  when: ({ serves }) => serves.includes('ledger'),
  options: ({ store }) => ({ outputsAt: (address) => store.utxoPages(address) }),
})
