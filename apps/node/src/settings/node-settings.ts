import { ogmiosVersions } from '@ratatosk/chain-apis'
import { Type } from '@sinclair/typebox'
import {
  flag,
  maxLovelace,
  oneOf,
  optional,
  optionalList,
  optionalToken,
  seedPhrase,
  wholeNumber,
} from './kinds.js'

/** A time limit of at most ten minutes. */
const milliseconds = (notes: { default: number; minimum: number; description: string }) =>
  wholeNumber({ ...notes, maximum: 600_000 })

export const endpointSettings = {
  SERVE_TX_STATUS: flag({
    default: true,
    description: 'Serve `/tx/status`, `/tx/statuses`, `/submission`: the status of transactions',
  }),
  SERVE_EVENTS: flag({
    default: true,
    description: 'Serve `/events`: server-sent events of transactions and blocks',
  }),
  EVENTS_MAX_CLIENTS: wholeNumber({
    default: 1000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of clients that read `/events` at a time; further ones are answered 503',
  }),
  SERVE_LAYER2_APIS: flag({
    default: true,
    description:
      'Serve layer 2 by the APIs of Blockfrost, Kupo and Ogmios under `/l2`, keep the index that they ' +
      'read, and serve `GET /network`',
  }),
  OGMIOS_VERSION: oneOf(ogmiosVersions, {
    default: '6',
    description: 'Version of the Ogmios API that `/l2` and the devnet serve',
  }),
  OGMIOS_STRICT_RPC: flag({
    default: false,
    description: 'Omit `method` from the responses of that API: JSON-RPC 2.0 has no such field',
  }),
  LAYER2_SUBMIT_TIMEOUT_MS: milliseconds({
    default: 15_000,
    minimum: 100,
    description:
      'How long a submission through these APIs waits for its result, in milliseconds; then 503, and the ' +
      'client may repeat it',
  }),
  INDEX_MAX_LAG_MS: milliseconds({
    default: 30_000,
    minimum: 10_000,
    description:
      'How long the index behind these APIs may lag behind acceptance, in milliseconds; then ' +
      '`/health/ready` fails',
  }),
  SERVE_PROOFS: flag({ default: true, description: 'Serve `/proofs/utxo` and `/proofs/transaction`' }),
  PROOF_BLOCKS: wholeNumber({
    default: 64,
    minimum: 64,
    maximum: 100_000,
    description:
      'Number of blocks after which unspent outputs can still be proved; each takes disk space for what it ' +
      'changed',
  }),
  SERVE_DOCS: flag({
    default: true,
    description: 'Serve `/openapi.json`, the OpenAPI document of this node, and `/docs`, its reference',
  }),
  SERVE_METRICS: flag({
    default: false,
    description: 'Serve `/metrics` to Prometheus, as an operator route; in every role',
  }),
  SERVE_EXPLORER: flag({
    default: true,
    description: 'Serve `/explorer/…`: what the node does and holds, for people who watch it',
  }),
  SERVE_CONSOLE: flag({
    default: true,
    description: 'Serve `/console`: pages that show what `/explorer/…` reports; not without it',
  }),
  SERVE_EVALUATE: flag({
    default: true,
    description: 'Serve `POST /evaluate`, which validates a transaction without submitting it',
  }),
}

export const serverSettings = {
  CORS_ORIGIN: optionalList({
    pattern: '^(\\*|(?!null$)[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s/?#@]+)$',
    allowed: 'origins such as https://wallet.example, separated by commas, or *',
    description:
      'Origins whose web pages may read public endpoints and submit; `*` for all, on the devnet only; ' +
      'never for operator endpoints and the faucet',
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    pattern: '^(true|false|[0-9]|[0-9a-fA-F.:/,\\s]{2,})$',
    allowed: 'true, false, a number of proxies from 0 to 9, or addresses and networks such as 10.0.0.0/8',
    description:
      'Whose `X-Forwarded-*` and `X-Request-Id` count: the number of proxies that every request passes, ' +
      '`true` for 1; or the addresses and networks of proxies, separated by commas. With a number, no ' +
      'client may reach the node itself',
  }),
  ACCESS_LOG: oneOf(['off', 'errors', 'all'], {
    default: 'off',
    description: 'Which requests are logged; `errors` are answers with a status of 400 or more',
  }),
  HEALTH_PROBE_TIMEOUT_MS: milliseconds({
    default: 3000,
    minimum: 1,
    description: 'Time that a subsystem has to respond to `/health/ready`, in milliseconds',
  }),
  REQUEST_TIMEOUT_MS: milliseconds({
    default: 10_000,
    minimum: 100,
    description: 'Time that a client has to send its request, in milliseconds; then 408',
  }),
  STALL_TIMEOUT_MS: milliseconds({
    default: 30_000,
    minimum: 100,
    description:
      'Time for which a client may accept no data of an answer that waits for it, in milliseconds; then ' +
      'its connection is closed',
  }),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds({
    default: 72_000,
    minimum: 100,
    description:
      'Time for which a connection is kept for its next request, in milliseconds; longer than the time of ' +
      'a proxy in front',
  }),
  MAX_EVENT_LOOP_DELAY_MS: milliseconds({
    default: 1000,
    minimum: 0,
    description:
      'Delay of the event loop, averaged over three seconds, beyond which the node is overloaded, in ' +
      'milliseconds: requests are answered 503, and `/submit` 500, with `Retry-After`; except health, ' +
      'metrics and operator routes. `0`: no limit',
  }),
  RATE_LIMIT: wholeNumber({
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description:
      'Requests that an address, or an IPv6 network of 64 bits, may send in a minute; then 429 with ' +
      '`Retry-After`. The same routes are excepted, and the faucet. Nodes with one `REDIS_URL` and ' +
      '`QUEUE_PREFIX` count together. Behind a proxy, set `TRUST_PROXY`. `0`: no limit',
  }),
  MAX_CONNECTIONS: wholeNumber({
    default: 5000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of connections that are served at a time, at most half of them WebSockets; requests ' +
      'on others are answered 503 with `Retry-After`. As many may wait to be accepted, if the system lets ' +
      'them (`net.core.somaxconn`)',
  }),
  SHUTDOWN_TIMEOUT_MS: milliseconds({
    default: 30_000,
    minimum: 1000,
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

const maxBytes = 1_099_511_627_776

export const roleSettings = {
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on' }),
  PORT: wholeNumber({
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'Port to listen on; `0` takes a free port and prints it',
  }),
  NODE_ROLE: oneOf(['all', 'api', 'reader', 'tx-processor', 'sequencer', 'archivist', 'watcher'], {
    default: 'all',
    description: 'What this process serves and runs',
  }),
  NETWORK: oneOf(['devnet', 'preview', 'preprod', 'mainnet'], {
    default: 'devnet',
    description: 'Cardano network: decides addresses, slots and default protocol parameters',
  }),
  UNKNOWN_SETTINGS: oneOf(['refuse', 'warn'], {
    default: 'refuse',
    description: 'What happens if an environment variable is spelled almost like a setting',
  }),
}

export const accessSettings = {
  OPERATOR_TOKEN: optionalToken({
    description: 'Bearer token that operator and debug endpoints require; unset: they are unauthenticated',
  }),
  METRICS_TOKEN: optionalToken({
    defaultNote: '`OPERATOR_TOKEN`',
    description: 'Bearer token that `/metrics` requires; it allows nothing else',
  }),
  OPERATOR_OPEN: flag({
    default: false,
    description:
      'Start without `OPERATOR_TOKEN` off loopback or on a public network, because a proxy guards the ' +
      'operator endpoints',
  }),
  PUBLIC_HOSTS: optionalList({
    pattern: '^[^\\s,/]+$',
    allowed: 'host names or IP addresses without port, separated by commas',
    description: 'Host names by which clients may address operator endpoints, besides loopback and `HOST`',
  }),
}

export const storageSettings = {
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
  DATABASE_READ_URL: optional({
    pattern: '^postgres(ql)?://[^\\s]+$',
    allowed: 'a URL such as postgres://user:password@host:5432/database',
    secret: true,
    description:
      'Streaming replica of `DATABASE_URL` from which the role `reader` reads the ledger; it writes to ' +
      '`DATABASE_URL`',
  }),
  REPLICA_MAX_LAG_MS: wholeNumber({
    default: 30_000,
    minimum: 2000,
    maximum: 86_400_000,
    description:
      'How far the replica may be behind, in milliseconds; then `/health/ready` fails until it has caught up',
  }),
  REDIS_URL: optional({
    // A path that is no number of a database would mean database 0.
    pattern: '^rediss?://(?=[^\\s])[^\\s/?#]*(/[0-9]*)?([?][^\\s#]*)?$',
    allowed: 'a URL such as redis://user:password@host:6379/0',
    secret: true,
    description: 'Redis 6.2 or later for the queue, in place of the database',
  }),
  QUEUE_PREFIX: Type.String({
    default: 'ratatosk',
    pattern: '^[^\\s:{}]{1,100}$',
    allowed: 'up to 100 characters without white space, colons and braces',
    description:
      "Prefix of the queue's Redis keys. Deployments on one Redis need different prefixes, and all " +
      'processes of a deployment the same',
  }),
}

export const ledgerSettings = {
  GENESIS_FILE: optional({
    defaultNote: "devnet: the devnet's",
    description:
      'File with the first unspent outputs, as `{ "utxos": [ { "outref": "<tx_hash>#<index>", "output": ' +
      '"<hex CBOR>" } ] }`; applied once, to an empty ledger; not allowed on mainnet',
  }),
  PROTOCOL_PARAMETERS_FILE: optional({
    defaultNote: 'by network and `LEDGER_VERSION`',
    description:
      "File with the protocol parameters of layer 2, in the format of Blockfrost's " +
      "`/epochs/latest/parameters` or Ogmios's `queryLedgerState/protocolParameters`",
  }),
  LEDGER_VERSION: Type.Optional(
    oneOf(['10', '11'], {
      defaultNote: "the deployment's; of a new one `11`",
      description:
        "Ledger version (Cardano's protocol version) of layer 2, and of the devnet. It is fixed for the " +
        'life of a deployment: the store keeps it, and another one is refused',
    }),
  ),
  MAX_TX_SIZE: wholeNumber({
    default: 16_384,
    minimum: 1,
    maximum: 1_048_576,
    description: 'Maximum size of a transaction that `/submit` accepts, in bytes of CBOR',
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
      'Maximum number of transactions that wait for validation; beyond it, `/submit` answers 500 with ' +
      '`Retry-After`',
  }),
  QUEUE_MAX_WAITING_BYTES: wholeNumber({
    default: 268_435_456,
    minimum: 1_048_576,
    maximum: maxBytes,
    description:
      'Maximum size of the transactions that wait for validation, in bytes of CBOR; Redis needs about one ' +
      'and a half times as many',
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
    maximum: maxBytes,
    description:
      'Maximum size of all dead letters, in bytes; the CBOR of the oldest is dropped first, then the ' +
      'oldest reasons',
  }),
  VALIDATION_BATCH_SIZE: wholeNumber({
    default: 256,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of transactions that are validated and written together',
  }),
}

export const faucetSettings = {
  FAUCET_TOKEN: optionalToken({
    description: 'Bearer token for `/faucet/claims`; without it the faucet is off',
  }),
  FAUCET_ENABLED: flag({ default: true, description: '`false` turns the faucet off even with a token' }),
  FAUCET_SEED_PHRASE: seedPhrase("The faucet's wallet. Required for a faucet off the devnet"),
  FAUCET_LAYER: oneOf(['1', '2'], { default: '1', description: 'Layer on which the faucet pays' }),
  FAUCET_AMOUNT: wholeNumber({
    default: 100_000_000,
    minimum: 1_000_000,
    maximum: maxLovelace,
    description: 'Lovelace per claim',
  }),
  FAUCET_COOLDOWN_SECONDS: wholeNumber({
    default: 86_400,
    minimum: 0,
    maximum: 31_536_000,
    description: 'Minimum time between two claims of one address, in seconds',
  }),
  FAUCET_DAILY_IP_LIMIT: wholeNumber({
    default: 5,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of claims with one `ipHash` in 24 hours',
  }),
  FAUCET_MIN_BALANCE: wholeNumber({
    default: 100_000_000,
    minimum: 0,
    maximum: maxLovelace,
    description: 'Balance that the faucet keeps in its wallet, in lovelace',
  }),
}
