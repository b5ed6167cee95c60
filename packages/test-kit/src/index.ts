export { keyOf, outputOf, type TestKey } from '@ratatosk/fixtures'
export { type BreakableProxy, breakableProxy } from './breakable-proxy.js'
export { collect } from './collect.js'
export { freePort } from './free-port.js'
export { logOf } from './log.js'
export { genesisOf, midgardMissing, midgardTransactions } from './midgard.js'
export { type OwnPostgres, ownPostgres } from './own-postgres.js'
export { ownRedis } from './own-redis.js'
export { documentFees, freeOfCharge, slots } from './parameters.js'
export { createPGlite, createPGliteFiles } from './pglite.js'
export { generator, hex, mutated, pick, type Random } from './random.js'
export {
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  type Service,
  schemaDigest,
  whyMissing,
  withRedis,
} from './services.js'
export { type SourceBlock, SourceChain } from './source-chain.js'
export {
  acceptedOf,
  chain,
  fundsOf,
  type LedgerEntry,
  outputsOf,
  type SignedTransaction,
  signed,
} from './transfers.js'
