import { ogmiosVersions } from '@ratatosk/chain-apis'
import { Type } from '@sinclair/typebox'
import { flag, oneOf, optionalList, wholeNumber } from './kinds.js'

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
