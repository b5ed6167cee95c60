import type { ErrorGroup } from './types.js'

export const requestsErrors: readonly ErrorGroup[] = [
  {
    title: 'The node and the limits of requests',
    errors: [
      {
        codes: ['DISABLED'],
        meaning: 'This node does not serve the path or the method',
        remedy: 'Check the path, the role of the node and its `SERVE_…` settings in [routes](routes.md)',
      },
      {
        codes: ['HTTP_OVERLOADED', 'OVERLOADED'],
        meaning: 'The event loop has been late for seconds',
        remedy:
          'Retry after `Retry-After`. As the operator, add `api` nodes, or raise `MAX_EVENT_LOOP_DELAY_MS`',
      },
      {
        codes: ['HTTP_RATE_LIMIT'],
        meaning: 'The address has sent more than `RATE_LIMIT` requests in a minute',
        remedy:
          'Retry after `Retry-After`. Behind a proxy, set `TRUST_PROXY`: otherwise all clients count as one',
      },
      {
        codes: ['HTTP_TOO_MANY_CONNECTIONS'],
        meaning: '`MAX_CONNECTIONS` are open',
        remedy: 'Retry; keep connections open and reuse them. As the operator, raise the limit',
      },
      {
        codes: ['HTTP_TOO_MANY_REQUESTS_PENDING'],
        meaning: 'More than 16 requests are in progress on one connection',
        remedy: 'Read responses before you send more',
      },
      {
        codes: ['HTTP_UNAUTHORIZED'],
        meaning: 'The bearer token is missing or wrong',
        remedy: "Send `Authorization: Bearer` with the node's `OPERATOR_TOKEN` or `FAUCET_TOKEN`",
      },
      {
        codes: ['HTTP_CROSS_SITE'],
        meaning: 'A web page of another origin sent the request',
        remedy: 'Call operator routes from a program, not from a page',
      },
      {
        codes: ['HTTP_NAVIGATION'],
        meaning: 'A link or the address bar of a browser opened a route that changes something',
        remedy: 'Call it from a program, such as curl',
      },
      {
        codes: ['HTTP_HOST_MISSING'],
        meaning: 'The request has no `Host` header',
        remedy: 'Send one; HTTP/1.1 requires it',
      },
      {
        codes: ['HTTP_ENCODED_BODY'],
        meaning: 'The body is compressed or encoded in another way',
        remedy: 'Send it as it is, without `Content-Encoding`',
      },
      {
        codes: ['HTTP_HOST_NOT_ALLOWED'],
        meaning: 'The request names a host that the node does not know as its own',
        remedy: 'Use a loopback address, or list the name in `PUBLIC_HOSTS`',
      },
      {
        codes: ['HTTP_OPERATION_BUSY'],
        meaning: 'Another operation of the sequencer is in progress',
        remedy: 'Wait for its end, then retry',
      },
      {
        codes: ['HTTP_OPERATION_TIMED_OUT'],
        meaning: 'The operation gave no result in time, and may have taken effect',
        remedy: 'Read the state queue, then retry',
      },
    ],
  },
  {
    title: 'Submitting, evaluating and reading',
    errors: [
      {
        codes: ['SUBMIT_INVALID_CBOR', 'EVALUATE_INVALID_CBOR'],
        meaning: 'The body is not exactly one well-formed CBOR item in hex',
        remedy: 'Send the hex digits of the transaction and nothing else',
      },
      {
        codes: ['SUBMIT_TOO_LARGE', 'EVALUATE_TOO_LARGE'],
        meaning: 'The transaction is larger than `MAX_TX_SIZE`',
        remedy: 'Split it',
      },
      {
        codes: ['SUBMIT_UNSUPPORTED_TYPE', 'EVALUATE_UNSUPPORTED_TYPE'],
        meaning: 'The content type is not `text/plain`',
        remedy: 'Send `Content-Type: text/plain`',
      },
      {
        codes: ['SUBMIT_ENQUEUE_FAILED'],
        meaning:
          'The queue did not accept the transaction, or the node is overloaded; the cause is in the log',
        remedy: 'Retry, after `Retry-After` if there is one: submitting twice is safe',
      },
      {
        codes: ['EVALUATE_BUSY', 'WORKERS_EVALUATIONS_BUSY'],
        meaning: 'Too many evaluations wait',
        remedy: 'Retry after `Retry-After`',
      },
      {
        codes: ['EVENTS_TOO_MANY_CLIENTS'],
        meaning: '`EVENTS_MAX_CLIENTS` read `/events`',
        remedy: 'Retry after `Retry-After`, or use one stream for several filters',
      },
      {
        codes: ['EVENTS_TOO_MANY_FILTERS', 'EVENTS_INVALID_PARAMETER', 'EVENTS_UNKNOWN_PARAMETER'],
        meaning: 'A parameter of `/events` is wrong; the message names it',
        remedy: 'Correct it by [`openapi.json`](openapi.json)',
      },
      {
        codes: [
          'TX_QUERY_INVALID_PARAMETER',
          'PROOFS_INVALID_PARAMETER',
          'EXPLORER_INVALID_PARAMETER',
          'OPERATORS_INVALID_PARAMETER',
        ],
        meaning: 'A parameter is malformed; the message repeats it',
        remedy: 'Correct it by [`openapi.json`](openapi.json)',
      },
      {
        codes: ['OPERATORS_UNKNOWN_BLOCK'],
        meaning: 'The state queue has no block with the header hash of `/summon`',
        remedy: 'Ask about a block of `/stateQueue`',
      },
      {
        codes: ['OPERATORS_NOT_ASKED'],
        meaning: 'The question of `/summon` is not asked; the message says why',
        remedy: 'For `Not sent`, read the log of the watcher; `/summons` lists what is asked already',
      },
      {
        codes: ['OPERATORS_BUSY'],
        meaning: 'Too many questions of `/summon` wait to be asked',
        remedy: 'Retry after `Retry-After`',
      },
      {
        codes: ['EXPLORER_NOT_HERE'],
        meaning: 'The node has no such block, transaction or output',
        remedy: 'Ask `/explorer/search`: it says what the text could be',
      },
      {
        codes: ['TX_QUERY_TRANSACTION_NOT_FOUND'],
        meaning: 'The ledger has no such transaction',
        remedy: 'Ask `/tx/status`: it may wait or be rejected',
      },
      {
        codes: [
          'TX_QUERY_TOO_MANY_LARGE_READS',
          'ARCHIVIST_TOO_MANY_READS',
          'EXPLORER_TOO_MANY_READS',
          'PROOFS_BUSY',
        ],
        meaning: 'Too many reads of this size are in progress',
        remedy: 'Retry after `Retry-After`',
      },
      {
        codes: ['PROOFS_INVALID_STATE', 'PROOFS_NO_BLOCK'],
        meaning: 'There is no block for the proof yet',
        remedy: 'Wait for the next block',
      },
      {
        codes: ['PROOFS_NOT_KEPT'],
        meaning: 'The state after this block is no longer kept',
        remedy: 'Ask for a newer block, or raise `PROOF_BLOCKS`',
      },
      {
        codes: ['ARCHIVIST_BLOCK_NOT_FOUND'],
        meaning: 'The node has no such block',
        remedy: 'Check the height or hash, or ask another archivist',
      },
      {
        codes: ['DEAD_LETTERS_NOT_FOUND'],
        meaning: 'There is no such dead letter',
        remedy: 'List them: it may have been replayed, dropped, or be too old',
      },
      {
        codes: ['DEAD_LETTERS_CBOR_DROPPED'],
        meaning: 'Its CBOR was dropped to save space, so it cannot be replayed',
        remedy: 'Submit the transaction again; raise `DEAD_LETTER_MAX_BYTES`',
      },
      {
        codes: ['OPERATOR_ROOT_EXISTS'],
        meaning: 'The state queue is initialised already',
        remedy: 'Nothing; `/reset` ends it first',
      },
      {
        codes: ['HEALTH_NOT_READY', 'HEALTH_PROBE_TIMEOUT'],
        meaning: 'A subsystem is not ready, or did not answer in `HEALTH_PROBE_TIMEOUT_MS`',
        remedy: 'See `failing` and `reasons` of `/health/ready`',
      },
    ],
  },
  {
    title: 'The faucet',
    errors: [
      {
        codes: [
          'ADDRESS_INVALID',
          'ADDRESS_NETWORK_MISMATCH',
          'ADDRESS_NO_PAYMENT_CREDENTIAL',
          'ADDRESS_SCRIPT',
        ],
        meaning: 'The faucet does not pay to this address',
        remedy: 'Name a bech32 address of this network with a payment key',
      },
      {
        codes: ['COOLDOWN'],
        meaning: 'The address has claimed too recently',
        remedy: 'Wait until `nextEligibleAt`',
      },
      {
        codes: ['IP_LIMIT'],
        meaning: 'The daily limit of this IP hash is reached',
        remedy: 'Wait a day',
      },
      {
        codes: ['DEPLETED', 'FAUCET_DEPLETED'],
        meaning: "The faucet's wallet is empty",
        remedy: 'Retry later. As the operator, send ada to it',
      },
      {
        codes: ['VALIDATION_FAILED'],
        meaning: 'The payment was not valid',
        remedy: 'Retry with the same `idempotencyKey`',
      },
      {
        codes: ['INTERNAL'],
        meaning: 'The outcome of the claim is not known',
        remedy: 'Retry with the same `idempotencyKey`: it pays once',
      },
      {
        codes: ['FAUCET_INVALID_CLAIM'],
        meaning: 'The body is not a claim; the message names the field',
        remedy: 'Correct it',
      },
      {
        codes: ['FAUCET_KEY_USED'],
        meaning: 'The `idempotencyKey` belongs to a claim of another address',
        remedy: 'Use a new key for each claim',
      },
      {
        codes: ['FAUCET_PAYER_BUSY', 'FAUCET_PAYER_CLOSED', 'FAUCET_PAYER_CONFIGURATION'],
        meaning: "The faucet's wallet is busy, closed or misconfigured",
        remedy: 'Retry with the same key; check the `FAUCET_…` settings',
      },
    ],
  },
]
