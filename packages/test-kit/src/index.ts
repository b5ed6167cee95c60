export { keyOf, outputOf, type TestKey } from '@ratatosk/fixtures'
export { type BreakableProxy, breakableProxy } from './breakable-proxy.js'
export { freePort, type OwnPostgres, ownPostgres, ownRedis } from './own-services.js'
export { documentFees, freeOfCharge, slots } from './parameters.js'
export { createPGlite, createPGliteFiles } from './pglite.js'
export { dropSchemas, giveBack, openIn, takeSchema } from './schemas.js'
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
  collect,
  generator,
  genesisOf,
  hex,
  knownDeviations,
  logOf,
  midgardMissing,
  midgardTransactions,
  mutated,
  peerCases,
  pick,
  type Random,
} from './tools.js'
export {
  acceptedOf,
  chain,
  fundsOf,
  type LedgerEntry,
  outputsOf,
  type SignedTransaction,
  signed,
} from './transfers.js'
