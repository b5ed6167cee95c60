import { type Static, Type } from '@sinclair/typebox'
import { flag, type NotedSchema, oneOf, optional, optionalList, wholeNumber } from './kinds.js'
import {
  archivistSettings,
  contractSettings,
  faucetSettings,
  layer1Settings,
  sequencerSettings,
} from './rollup.js'

const nodeSettings = {
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on' }),
  PORT: wholeNumber({
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'Port to listen on; `0` takes a free port and prints it',
  }),
  NODE_ROLE: oneOf(['all', 'api', 'tx-processor', 'sequencer', 'archivist'], {
    default: 'all',
    description: 'What this process serves and runs',
  }),
  NETWORK: oneOf(['devnet', 'preview', 'preprod', 'mainnet'], {
    default: 'devnet',
    description: 'Cardano network: decides addresses, slots and default protocol parameters',
  }),
}

const accessSettings = {
  OPERATOR_TOKEN: optional({
    secret: true,
    description: 'Bearer token that operator and debug endpoints require; unset: they are unauthenticated',
  }),
  OPERATOR_OPEN: flag({
    default: false,
    description:
      'Start without `OPERATOR_TOKEN` off loopback or on a public network, because a proxy guards the operator endpoints',
  }),
  PUBLIC_HOSTS: optionalList({
    pattern: '^[^\\s,/]+$',
    allowed: 'host names or IP addresses without port, separated by commas',
    description: 'Host names by which clients may address operator endpoints, besides loopback and `HOST`',
  }),
}

const storageSettings = {
  DATA_DIR: Type.String({
    default: '.ratatosk',
    minLength: 1,
    description: 'Directory for the embedded store and queue; used by one process at a time',
  }),
  DATABASE_URL: optional({
    pattern: '^postgres(ql)?://[^\\s]+$',
    allowed: 'a URL such as postgres://user:password@host:5432/database',
    secret: true,
    description: 'PostgreSQL 13 or later, in place of the embedded store',
  }),
  DATABASE_SCHEMA: Type.String({
    default: 'ratatosk',
    pattern: '^[a-z_][a-z0-9_]{0,54}$',
    allowed: 'up to 55 of a-z, 0-9 and _, not starting with a digit',
    description:
      'Schema of the tables; the queue uses `<DATABASE_SCHEMA>_queue`, the index `<DATABASE_SCHEMA>_index`',
  }),
  DATABASE_POOL_SIZE: wholeNumber({
    default: 10,
    minimum: 2,
    maximum: 1000,
    description: 'Maximum number of connections from the store to PostgreSQL',
  }),
  REDIS_URL: optional({
    pattern: '^rediss?://[^\\s]+$',
    allowed: 'a URL such as redis://user:password@host:6379/0',
    secret: true,
    description: 'Redis 6.2 or later for the queue, in place of the database',
  }),
  QUEUE_PREFIX: Type.String({
    default: 'ratatosk',
    pattern: '^[^\\s:{}]{1,100}$',
    allowed: 'up to 100 characters without white space, colons and braces',
    description: "Prefix of the queue's Redis keys",
  }),
}

const ledgerSettings = {
  GENESIS_FILE: optional({
    defaultNote: "devnet: the devnet's",
    description:
      'File with the first unspent outputs, as `{ "utxos": [ { "outref": "<tx_hash>#<index>", "output": "<hex CBOR>" } ] }`; applied once, to an empty ledger; not allowed on mainnet',
  }),
  PROTOCOL_PARAMETERS_FILE: optional({
    defaultNote: 'by network',
    description:
      "File with the protocol parameters of layer 2, in the format of Blockfrost's `/epochs/latest/parameters` or Ogmios's `queryLedgerState/protocolParameters`",
  }),
  MAX_TX_SIZE: wholeNumber({
    default: 16_384,
    minimum: 1,
    maximum: 1_048_576,
    description: 'Largest transaction that `/submit` accepts, in bytes of CBOR',
  }),
  SUBMIT_MAX_ATTEMPTS: wholeNumber({
    default: 5,
    minimum: 1,
    maximum: 1000,
    description: 'Number of attempts to validate a transaction before it becomes a dead letter',
  }),
  QUEUE_MAX_WAITING: wholeNumber({
    default: 100_000,
    minimum: 1,
    maximum: 100_000_000,
    description:
      'Maximum number of transactions that wait for validation; beyond it, `/submit` answers 500 with `Retry-After`',
  }),
  QUEUE_MAX_WAITING_BYTES: wholeNumber({
    default: 268_435_456,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    description:
      'Maximum size of the transactions that wait for validation, in bytes of CBOR; Redis needs about one and a half times as many',
  }),
  DEAD_LETTER_MAX_AGE_MS: wholeNumber({
    default: 2_592_000_000,
    minimum: 60_000,
    maximum: 3_153_600_000_000,
    description: 'How long dead letters are kept, in milliseconds',
  }),
  DEAD_LETTER_MAX_BYTES: wholeNumber({
    default: 268_435_456,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    description:
      'Maximum size of all dead letters, in bytes; the CBOR of the oldest is dropped first, then the oldest reasons',
  }),
  VALIDATION_BATCH_SIZE: wholeNumber({
    default: 256,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of transactions that are validated and written together',
  }),
}

const endpointSettings = {
  TX_STATUS: flag({
    default: true,
    description: 'Serve `/tx/status` and `/submission`: what became of a transaction',
  }),
  EVENTS: flag({
    default: true,
    description: 'Serve `/events`: server-sent events of transactions and blocks',
  }),
  EVENTS_MAX_CLIENTS: wholeNumber({
    default: 1000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of clients that read `/events` at a time; further ones are answered 503',
  }),
  LAYER2_APIS: flag({
    default: true,
    description:
      'Serve layer 2 by the APIs of Blockfrost, Kupo and Ogmios under `/l2`, keep the index that they read, and serve `GET /network`',
  }),
  LAYER2_SUBMIT_TIMEOUT_MS: wholeNumber({
    default: 15_000,
    minimum: 100,
    maximum: 600_000,
    description:
      'Time for which a submission through these APIs waits for its verdict, in milliseconds; then 503, and it may be repeated',
  }),
  PROOFS: flag({
    default: true,
    description: 'Serve `/proofs/utxo` and `/proofs/transaction`',
  }),
  PROOF_BLOCKS: wholeNumber({
    default: 64,
    minimum: 64,
    maximum: 100_000,
    description:
      'Number of blocks after which unspent outputs can still be proved; each takes disk space for what it changed',
  }),
  DOCS: flag({
    default: true,
    description: 'Serve `/openapi.json`, the OpenAPI document of this node, and `/docs`, its reference',
  }),
  EVALUATE: flag({
    default: true,
    description: 'Serve `POST /evaluate`, which judges a transaction without submitting it',
  }),
}

const serverSettings = {
  CORS_ORIGIN: optionalList({
    pattern: '^(\\*|(?!null$)[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s/?#@]+)$',
    allowed: 'origins such as https://wallet.example, separated by commas, or *',
    description:
      'Origins whose web pages may read public endpoints and submit; `*` for all, on the devnet only; never for operator endpoints and the faucet',
  }),
  TRUST_PROXY: flag({
    default: false,
    description:
      'Trust `X-Forwarded-*` and `X-Request-Id`; only if every client connects through a proxy that sets them',
  }),
  ACCESS_LOG: oneOf(['off', 'errors', 'all'], {
    default: 'off',
    description: 'Which requests are logged; `errors` are answers with a status of 400 or more',
  }),
  HEALTH_PROBE_TIMEOUT_MS: wholeNumber({
    default: 3000,
    minimum: 1,
    maximum: 600_000,
    description: 'Time that a subsystem has to respond to `/health/ready`, in milliseconds',
  }),
  REQUEST_TIMEOUT_MS: wholeNumber({
    default: 10_000,
    minimum: 100,
    maximum: 600_000,
    description: 'Time that a client has to send its request, in milliseconds; then 408',
  }),
  STALL_TIMEOUT_MS: wholeNumber({
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
    description:
      'Time for which a client may accept no data of an answer that waits for it, in milliseconds; then its connection is closed',
  }),
  KEEP_ALIVE_TIMEOUT_MS: wholeNumber({
    default: 72_000,
    minimum: 100,
    maximum: 600_000,
    description:
      'Time for which a connection is kept for its next request, in milliseconds; longer than that of a proxy in front',
  }),
  MAX_CONNECTIONS: wholeNumber({
    default: 5000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of connections that are served at a time; requests on others are answered 503 with `Retry-After`. As many may wait to be accepted, if the system lets them (`net.core.somaxconn`)',
  }),
  SHUTDOWN_TIMEOUT_MS: wholeNumber({
    default: 30_000,
    minimum: 1000,
    maximum: 600_000,
    description: 'Time that requests and validation have to finish after a signal, in milliseconds',
  }),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'Lowest level that is logged',
  }),
  LOG_FORMAT: Type.Optional(
    oneOf(['pretty', 'json'], {
      defaultNote: '`pretty` in a terminal, otherwise `json`',
      description: 'Format of log lines',
    }),
  ),
}

/** Every setting by group, in the order of the documentation. */
export const settingGroups = {
  'Role and network': nodeSettings,
  'Operator access': accessSettings,
  Storage: storageSettings,
  'Ledger and validation': ledgerSettings,
  'Layer 1': layer1Settings,
  Contracts: contractSettings,
  Sequencer: sequencerSettings,
  Faucet: faucetSettings,
  Archivist: archivistSettings,
  'Optional endpoints': endpointSettings,
  'Server and logs': serverSettings,
}

/** Every setting, by the name of its environment variable. */
export const settingsSchema = Type.Object({
  ...nodeSettings,
  ...accessSettings,
  ...storageSettings,
  ...ledgerSettings,
  ...layer1Settings,
  ...contractSettings,
  ...sequencerSettings,
  ...faucetSettings,
  ...archivistSettings,
  ...endpointSettings,
  ...serverSettings,
})

/** The same, as tables and messages use it. */
export const settingNotes: ReadonlyMap<string, NotedSchema> = new Map(
  Object.entries(settingsSchema.properties as Record<string, NotedSchema>),
)

type Validated = Static<typeof settingsSchema>

/** The settings whose default depends on whether layer 1 is a devnet. */
export type NetworkDefaults = Pick<
  Validated,
  | 'AUTO_INIT'
  | 'BLOCK_VALIDITY_MS'
  | 'COMMIT_BUDGET_PER_HOUR'
  | 'COMMIT_INTERVAL_MS'
  | 'MATURITY_WINDOW_MS'
  | 'OPERATION_INTERVAL_MS'
>

/** Validated settings with all defaults. */
export type Settings = Validated & Required<NetworkDefaults>

export type NetworkName = Settings['NETWORK']
export type Role = Settings['NODE_ROLE']
