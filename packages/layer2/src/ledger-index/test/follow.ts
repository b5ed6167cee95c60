// A process that follows acceptance until it is killed: SCHEMA names the store's schema, INDEX the index'.
import { openStore } from '@ratatosk/store'
import { databaseUrl } from '@ratatosk/test-kit'
import { openIndex } from '../open-index.js'
import { genesis } from './history.js'

const { SCHEMA: schema = '', INDEX: own = '' } = process.env
const store = await openStore({ url: databaseUrl, schema, maxConnections: 2 })
await openIndex({
  database: store.database,
  schema: own,
  source: store.changes,
  genesis,
  pollMs: 5,
  // Small steps, so that a kill leaves the index in the middle.
  batchSize: 20,
})
process.send?.('follows')
