import { type Static, Type } from '@sinclair/typebox'
import { blockSettings } from './block-settings.js'
import { faucetSettings } from './faucet-settings.js'
import { oneOf, optional, wholeNumber } from './kinds.js'
import { layer1Settings } from './layer1-settings.js'

export const networks = ['devnet', 'preview', 'preprod', 'mainnet'] as const
export type NetworkName = (typeof networks)[number]

export const roles = ['all', 'api', 'tx-processor', 'sequencer', 'archivist'] as const
export type Role = (typeof roles)[number]

/** Every setting of the node, by the name of its environment variable. What is not here has no effect. */
export const settingsSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on' }),
  PORT: wholeNumber({
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'Port to listen on; 0 takes a free one and prints it',
  }),
  NODE_ROLE: oneOf(roles, { default: 'all', description: 'What this process serves and runs' }),
  NETWORK: oneOf(networks, {
    default: 'devnet',
    description: 'Network of addresses, slots and parameters; all but `mainnet` use `addr_test1`',
  }),
  DATA_DIR: Type.String({
    default: '.ratatosk',
    minLength: 1,
    description: 'Everything that the embedded store and queue keep; of one process at a time',
  }),
  DATABASE_URL: optional({
    pattern: '^postgres(ql)?://[^\\s]+$',
    allowed: 'an address such as postgres://user:password@host:5432/database',
    secret: true,
    description: 'PostgreSQL 13 or later instead of the embedded store',
  }),
  DATABASE_SCHEMA: Type.String({
    default: 'ratatosk',
    pattern: '^[a-z_][a-z0-9_]{0,54}$',
    allowed: 'up to 55 of a-z, 0-9 and _, not beginning with a digit',
    description: 'Schema of the tables, so that nodes can share one database; the queue adds `_queue`',
  }),
  DATABASE_POOL_SIZE: wholeNumber({
    default: 10,
    minimum: 2,
    maximum: 1000,
    description: 'Connections of the store to PostgreSQL at most',
  }),
  REDIS_URL: optional({
    pattern: '^rediss?://[^\\s]+$',
    allowed: 'an address such as redis://user:password@host:6379/0',
    secret: true,
    description: 'Redis 6.2 or later for the queue, instead of the database',
  }),
  QUEUE_PREFIX: Type.String({
    default: 'ratatosk',
    pattern: '^[^\\s:{}]{1,100}$',
    allowed: 'up to 100 characters without white space, colon and braces',
    description: "Prefix of the queues' keys, so that nodes can share one Redis",
  }),
  GENESIS_FILE: optional({
    defaultNote: "the devnet's",
    description:
      'First unspent outputs, as `{ "utxos": [ { "outref": "<tx_hash>#<index>", "output": "<hex CBOR>" } ] }`; applied once, to an empty ledger; refused on mainnet',
  }),
  PROTOCOL_PARAMETERS_FILE: optional({
    defaultNote: 'by network',
    description:
      "Layer-2 parameters, in the shape of Blockfrost's `/epochs/latest/parameters` or Ogmios's `queryLedgerState/protocolParameters`",
  }),
  MAX_TX_SIZE: wholeNumber({
    default: 16_384,
    minimum: 1,
    maximum: 1_048_576,
    description: 'Largest transaction that `/submit` takes, in bytes of CBOR',
  }),
  SUBMIT_MAX_ATTEMPTS: wholeNumber({
    default: 5,
    minimum: 1,
    maximum: 1000,
    description: 'How often a transaction is tried before it becomes a dead letter',
  }),
  VALIDATION_BATCH_SIZE: wholeNumber({
    default: 256,
    minimum: 1,
    maximum: 10_000,
    description: 'Transactions validated and written together at most',
  }),
  ...layer1Settings,
  ...blockSettings,
  ...faucetSettings,
  ARCHIVIST_PEERS: optional({
    pattern: '^https?://[^\\s,]+(\\s*,\\s*https?://[^\\s,]+)*$',
    allowed: 'addresses such as http://sequencer:3000/archivist, separated by commas',
    description:
      'Where the role `archivist` finds bodies of blocks: full nodes and sequencers serve them under `/archivist`, archivists at their root',
  }),
  OPERATOR_TOKEN: optional({
    secret: true,
    description: 'When set, operator and debug endpoints ask for `Authorization: Bearer`',
  }),
  HEALTH_PROBE_TIMEOUT_MS: wholeNumber({
    default: 3000,
    minimum: 1,
    maximum: 600_000,
    description: 'How long a subsystem may take to answer `/health/ready`, in milliseconds',
  }),
  REQUEST_TIMEOUT_MS: wholeNumber({
    default: 10_000,
    minimum: 100,
    maximum: 600_000,
    description: 'How long a client may take to send its request, in milliseconds; then 408',
  }),
  SHUTDOWN_TIMEOUT_MS: wholeNumber({
    default: 30_000,
    minimum: 1000,
    maximum: 600_000,
    description: 'How long requests and validation may take to finish after a signal, in milliseconds',
  }),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'Lowest level that is logged',
  }),
  LOG_FORMAT: Type.Optional(
    oneOf(['pretty', 'json'], {
      defaultNote: '`pretty` in a terminal, else `json`',
      description: 'Lines for people, or a JSON object a line',
    }),
  ),
})

/** The settings as they are used: defaults filled in, numbers as numbers. */
export type Settings = Static<typeof settingsSchema>
