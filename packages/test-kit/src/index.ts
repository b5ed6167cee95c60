export { keyOf, outputOf, type TestKey } from '@ratatosk/fixtures'
export {
  acceptedOf,
  chain,
  fundsOf,
  type LedgerEntry,
  outputsOf,
  type SignedTransaction,
  type SourceBlock,
  SourceChain,
  signed,
} from './chains.js'
export {
  type BreakableProxy,
  breakableProxy,
  freePort,
  type OwnPostgres,
  ownPostgres,
  ownRedis,
} from './own-services.js'
export { documentFees, freeOfCharge, slots } from './parameters.js'
export { createPGlite, createPGliteFiles } from './pglite.js'
export {
  databaseUrl,
  dropSchemas,
  giveBack,
  inDatabase,
  openIn,
  randomName,
  redisUrl,
  removeKeys,
  type Service,
  schemaDigest,
  takeSchema,
  whyMissing,
  withRedis,
} from './services.js'
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
